#include "weir/pool/starvation.h"

#include <algorithm>

namespace weir {
namespace {

constexpr TimeDelta kClearFor = TimeDelta::Millis(500);
constexpr TimeDelta kShownWithin = TimeDelta::Millis(500);
constexpr double kQueueS = 0.004;
constexpr double kNoises = 1.5;
constexpr double kMaxNoiseS = 0.04;
constexpr double kLoss = 0.02;
constexpr double kRise = 1.02;
// Of the target, what a sender that uses it sends.
constexpr double kUsed = 0.3;

}  // namespace

void Starvation::Add(DataRate advice, std::span<const DataRate> others, DataRate target,
                     const IntervalStatistics& statistics, Timestamp now) {
  const double queue_s = kQueueS + std::min(kNoises * statistics.delay_noise_s, kMaxNoiseS);
  if (statistics.queueing_delay_min_s < queue_s) queue_was_short_ = now;
  if (!others.empty() && std::ranges::min(others) > target * kRise) others_rose_ = now;
  const bool is_clear =
      now - queue_was_short_ < kShownWithin && statistics.loss_ratio < statistics.loss_at_short_queue_10s + kLoss;
  if (!is_clear || !not_clear_.IsFinite()) not_clear_ = now;
  const bool is_used = statistics.receive_rate_bps > kUsed * static_cast<double>(target.bps());
  const bool others_rise = now - others_rose_ < kShownWithin;
  const bool starves = now - not_clear_ >= kClearFor && is_used && others_rise && advice <= target;
  share_.Add(starves ? 1 : 0, statistics.interval_s);
}

}  // namespace weir
