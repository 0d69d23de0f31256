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

double MediaBps(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return rtp ? static_cast<double>(MaxMediaRate(rtp->media, kSendSideOverheadBytes).bps()) : kMaxRateBps;
}

double AudioBps(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  return rtp ? static_cast<double>(AudioRate(rtp->media, kSendSideOverheadBytes).bps()) : 0;
}

// Splits `span` at the video's pauses and adds the parts to `spans`.
void AddSpan(const ActiveSpan& span, const std::vector<std::pair<SimTime, SimTime>>& video_pauses,
             std::vector<ActiveSpan>& spans) {
  SimTime from = span.from;
  const auto add_until = [&](SimTime to, bool audio_only) {
    to = std::min(to, span.to);
    if (to > from) spans.push_back({from, to, audio_only});
    from = std::max(from, to);
  };
  // Starts at the first pause that matters: spans and pauses may number thousands each.
  auto pause = std::ranges::upper_bound(video_pauses, span.from, {}, &std::pair<SimTime, SimTime>::second);
  for (; pause != video_pauses.end() && pause->first < span.to; ++pause) {
    add_until(pause->first, false);
    add_until(pause->second, true);
  }
  add_until(span.to, false);
}

}  // namespace

std::vector<ActiveSpan> ActiveSpans(const FlowSpec& flow) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  if (!rtp) return {{flow.start, flow.stop}};
  std::vector<ActiveSpan> spans;
  SimTime from = flow.start;
  for (const auto& [pause, resume] : rtp->pauses) {
    AddSpan({from, std::min(pause, flow.stop)}, rtp->media.video_pauses, spans);
    from = std::max(from, resume);
  }
  AddSpan({from, flow.stop}, rtp->media.video_pauses, spans);
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

double AchievableThroughput::BitsUntil(SimTime time) {
  double bits = 0;
  for (; span_ < spans_.size() && spans_[span_].from < time; ++span_) {
    const ActiveSpan& span = spans_[span_];
    media_bps_ = span.audio_only ? audio_bps_ : full_media_bps_;
    const SimTime from = std::max(span.from, time_), to = std::min(span.to, time);
    FillBucket((from - bucket_time_).seconds(), 0);
    bits += BitsOfSpan(from, to);
    bucket_time_ = to;
    if (span.to > time) break;
    waiting_bits_ = 0;
  }
  time_ = time;
  return bits;
}

double AchievableThroughput::BitsOfSpan(SimTime from, SimTime to) {
  if (from >= to) return 0;
  if (!capacity_) return Serve(kUnlimitedBps, to - from);
  double bits = 0;
  const auto serve = [&](int64_t rate_bps, SimDuration duration) {
    bits += Serve(static_cast<double>(rate_bps), duration);
  };
  if (const std::optional<SimDuration> period = capacity_->period()) {
    // Once a period leaves waiting media and bucket unchanged, all later periods are equal, and their bits are
    // multiplied: a trace may repeat every few ns.
    while (to - from > 2 * *period) {
      const double waiting_before = waiting_bits_, bucket_before = bucket_bits_, bits_before = bits;
      capacity_->ForEachRate(from, from + *period, serve);
      from += *period;
      if (std::abs(waiting_bits_ - waiting_before) > 1e-9 * MostWaitingBits() ||
          std::abs(bucket_bits_ - bucket_before) > 1e-9 * full_bucket_bits_) {
        continue;
      }
      const int64_t whole_periods = (to - from).ns() / period->ns();
      bits += (bits - bits_before) * static_cast<double>(whole_periods);
      from += whole_periods * *period;
    }
  }
  capacity_->ForEachRate(from, to, serve);
  return bits;
}

double AchievableThroughput::Serve(double capacity_bps, SimDuration duration) {
  const double duration_s = duration.seconds();
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
