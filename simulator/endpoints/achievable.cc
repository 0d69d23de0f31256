#include "endpoints/achievable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

constexpr double kUnlimitedBps = std::numeric_limits<double>::infinity();

double Seconds(int64_t duration_ns) { return static_cast<double>(duration_ns) * 1e-9; }

double MediaBps(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return rtp ? static_cast<double>(MaxMediaRate(rtp->media, kSendSideOverheadBytes).bps()) : kMaxRateBps;
}

double AudioBps(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return rtp ? static_cast<double>(AudioRate(rtp->media, kSendSideOverheadBytes).bps()) : 0;
}

// Splits `span` at the video's pauses and adds the parts to `spans`.
void AddSpan(const ActiveSpan& span, const std::vector<std::pair<int64_t, int64_t>>& video_pauses_ns,
             std::vector<ActiveSpan>& spans) {
  int64_t from_ns = span.from_ns;
  const auto add_until = [&](int64_t to_ns, bool audio_only) {
    to_ns = std::min(to_ns, span.to_ns);
    if (to_ns > from_ns) spans.push_back({from_ns, to_ns, audio_only});
    from_ns = std::max(from_ns, to_ns);
  };
  // Starts at the first pause that matters: spans and pauses may number thousands each.
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
      full_media_bps_(MediaBps(flow)),
      audio_bps_(AudioBps(flow)),
      policer_bps_(scenario.link(flow.direction).PolicedBps(kUnlimitedBps)),
      // 0 without a policer.
      full_bucket_bits_(8.0 * static_cast<double>(scenario.link(flow.direction).loss.burst_bytes)),
      spans_(ActiveSpans(flow)),
      bucket_bits_(full_bucket_bits_) {}

double AchievableThroughput::BitsUntil(int64_t time_ns) {
  double bits = 0;
  for (; span_ < spans_.size() && spans_[span_].from_ns < time_ns; ++span_) {
    const ActiveSpan& span = spans_[span_];
    media_bps_ = span.audio_only ? audio_bps_ : full_media_bps_;
    const int64_t from_ns = std::max(span.from_ns, time_ns_), to_ns = std::min(span.to_ns, time_ns);
    FillBucket(Seconds(from_ns - bucket_time_ns_), 0);
    bits += BitsOfSpan(from_ns, to_ns);
    bucket_time_ns_ = to_ns;
    if (span.to_ns > time_ns) break;
    waiting_bits_ = 0;
  }
  time_ns_ = time_ns;
  return bits;
}

double AchievableThroughput::BitsOfSpan(int64_t from_ns, int64_t to_ns) {
  if (from_ns >= to_ns) return 0;
  if (!capacity_) return Serve(kUnlimitedBps, to_ns - from_ns);
  double bits = 0;
  const auto serve = [&](int64_t rate_bps, int64_t duration_ns) {
    bits += Serve(static_cast<double>(rate_bps), duration_ns);
  };
  if (const std::optional<int64_t> period_ns = capacity_->period_ns()) {
    // Once a period leaves waiting media and bucket unchanged, all later periods are equal, and their bits are
    // multiplied: a trace may repeat every few ns.
    while (to_ns - from_ns > 2 * *period_ns) {
      const double waiting_before = waiting_bits_, bucket_before = bucket_bits_, bits_before = bits;
      capacity_->ForEachRate(from_ns, from_ns + *period_ns, serve);
      from_ns += *period_ns;
      if (std::abs(waiting_bits_ - waiting_before) > 1e-9 * MostWaitingBits() ||
          std::abs(bucket_bits_ - bucket_before) > 1e-9 * full_bucket_bits_) {
        continue;
      }
      const int64_t whole_periods = (to_ns - from_ns) / *period_ns;
      bits += (bits - bits_before) * static_cast<double>(whole_periods);
      from_ns += whole_periods * *period_ns;
    }
  }
  capacity_->ForEachRate(from_ns, to_ns, serve);
  return bits;
}

double AchievableThroughput::Serve(double capacity_bps, int64_t duration_ns) {
  const double duration_s = Seconds(duration_ns);
  const double growth_bps = RateBps() - capacity_bps;
  const double waiting_before = waiting_bits_;
  double served_bits = capacity_bps * duration_s;
  if (growth_bps >= 0) {
    waiting_bits_ = std::min(waiting_bits_ + growth_bps * duration_s, MostWaitingBits());
  } else {
    // Media leaves at the capacity until none waits, then at the rate of arrival.
    waiting_bits_ -= std::min(waiting_bits_, -growth_bps * duration_s);
    served_bits = RateBps() * duration_s + waiting_before - waiting_bits_;
  }
  const double burst_bits =
      std::clamp(std::min(capacity_bps, media_bps_) * duration_s - served_bits, 0.0, bucket_bits_);
  FillBucket(duration_s, served_bits + waiting_bits_ - waiting_before + burst_bits);
  return served_bits + burst_bits;
}

void AchievableThroughput::FillBucket(double duration_s, double sent_bits) {
  if (full_bucket_bits_ == 0) return;
  bucket_bits_ = std::clamp(bucket_bits_ + policer_bps_ * duration_s - sent_bits, 0.0, full_bucket_bits_);
}

}  // namespace weir::sim
