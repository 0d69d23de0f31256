#include "endpoints/achievable.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

// The most that reaches the queue: a policer stands before it.
double MediaBps(const FlowSpec& flow, const LinkSpec& link) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return link.PolicedBps(
      static_cast<double>(rtp ? MaxMediaRate(rtp->media, kSendSideOverheadBytes).bps() : CapacityTrace::kMaxRateBps));
}

double AudioBps(const FlowSpec& flow, const LinkSpec& link) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return rtp ? link.PolicedBps(static_cast<double>(AudioRate(rtp->media, kSendSideOverheadBytes).bps())) : 0;
}

// The rest of a span with video when that pauses.
void AddSpan(const ActiveSpan& span, const std::vector<std::pair<int64_t, int64_t>>& video_pauses_ns,
             std::vector<ActiveSpan>& spans) {
  int64_t from_ns = span.from_ns;
  const auto add_until = [&](int64_t to_ns, bool audio_only) {
    to_ns = std::min(to_ns, span.to_ns);
    if (to_ns > from_ns) spans.push_back({from_ns, to_ns, audio_only});
    from_ns = std::max(from_ns, to_ns);
  };
  // Not all for each span: there may be millions of both.
  auto pause = std::ranges::upper_bound(video_pauses_ns, span.from_ns, {}, &std::pair<int64_t, int64_t>::second);
  for (; pause != video_pauses_ns.end() && pause->first < span.to_ns; ++pause) {
    add_until(pause->first, false);
    add_until(pause->second, true);
  }
  add_until(span.to_ns, false);
}

}  // namespace

std::vector<ActiveSpan> ActiveSpans(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  if (!rtp) return {{flow.start_ns, flow.stop_ns}};
  std::vector<ActiveSpan> spans;
  int64_t from_ns = flow.start_ns;
  for (const auto& [pause_ns, resume_ns] : rtp->pauses_ns) {
    AddSpan({from_ns, std::min(pause_ns, flow.stop_ns)}, rtp->media.video_pauses_ns, spans);
    from_ns = std::max(from_ns, resume_ns);
  }
  AddSpan({from_ns, flow.stop_ns}, rtp->media.video_pauses_ns, spans);
  return spans;
}

AchievableThroughput::AchievableThroughput(const Scenario& scenario, const FlowSpec& flow)
    : capacity_(scenario.link(flow.direction).capacity),
      media_bps_(MediaBps(flow, scenario.link(flow.direction))),
      audio_bps_(AudioBps(flow, scenario.link(flow.direction))),
      spans_(ActiveSpans(flow)) {}

double AchievableThroughput::BitsUntil(int64_t time_ns) {
  double bits = 0;
  for (; span_ < spans_.size() && spans_[span_].from_ns < time_ns; ++span_) {
    const ActiveSpan& span = spans_[span_];
    rate_bps_ = span.audio_only ? audio_bps_ : media_bps_;
    bits += BitsOfSpan(std::max(span.from_ns, time_ns_), std::min(span.to_ns, time_ns));
    if (span.to_ns > time_ns) break;
    waiting_bits_ = 0;
  }
  time_ns_ = time_ns;
  return bits;
}

double AchievableThroughput::BitsOfSpan(int64_t from_ns, int64_t to_ns) {
  if (from_ns >= to_ns) return 0;
  if (!capacity_) return rate_bps_ * static_cast<double>(to_ns - from_ns) * 1e-9;
  double bits = 0;
  const auto serve = [&](int64_t rate_bps, int64_t duration_ns) {
    bits += Serve(static_cast<double>(rate_bps), duration_ns);
  };
  if (const std::optional<int64_t> period_ns = capacity_->period_ns()) {
    // A period that leaves as much waiting as it found is like all that follow: of a trace that repeats every few ns
    // not each is walked through.
    while (to_ns - from_ns > 2 * *period_ns) {
      const double waiting_before = waiting_bits_, bits_before = bits;
      capacity_->ForEachRate(from_ns, from_ns + *period_ns, serve);
      from_ns += *period_ns;
      if (std::abs(waiting_bits_ - waiting_before) > 1e-9 * MostWaitingBits()) continue;
      const int64_t whole_periods = (to_ns - from_ns) / *period_ns;
      bits += (bits - bits_before) * static_cast<double>(whole_periods);
      from_ns += whole_periods * *period_ns;
    }
  }
  capacity_->ForEachRate(from_ns, to_ns, serve);
  return bits;
}

double AchievableThroughput::Serve(double capacity_bps, int64_t duration_ns) {
  const double duration_s = static_cast<double>(duration_ns) * 1e-9;
  const double growth_bps = rate_bps_ - capacity_bps;
  if (growth_bps >= 0) {
    waiting_bits_ = std::min(waiting_bits_ + growth_bps * duration_s, MostWaitingBits());
    return capacity_bps * duration_s;
  }
  // At the capacity until nothing waits, then as it comes.
  const double drained_bits = std::min(waiting_bits_, -growth_bps * duration_s);
  waiting_bits_ -= drained_bits;
  return rate_bps_ * duration_s + drained_bits;
}

}  // namespace weir::sim
