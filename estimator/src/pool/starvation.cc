#include "weir/pool/starvation.h"

#include <algorithm>

namespace weir {
namespace {

constexpr TimeDelta kClearFor = TimeDelta::Seconds(1);
constexpr double kQueueS = 0.02;
constexpr double kLoss = 0.02;
constexpr double kRise = 1.02;
// Of the target, what a sender that uses it sends.
constexpr double kUsed = 0.3;

}  // namespace

void Starvation::Add(DataRate advice, std::span<const DataRate> others, DataRate target,
                     const IntervalStatistics& statistics, Timestamp now) {
  const bool is_clear =
      statistics.queueing_delay_min_s < kQueueS && statistics.loss_ratio < statistics.loss_at_short_queue_10s + kLoss;
  if (!is_clear || !not_clear_.IsFinite()) not_clear_ = now;
  const bool is_used = statistics.receive_rate_bps > kUsed * static_cast<double>(target.bps());
  const bool others_rise = !others.empty() && std::ranges::min(others) > target * kRise;
  const bool starves = now - not_clear_ >= kClearFor && is_used && others_rise && advice <= target;
  share_.Add(starves ? 1 : 0, statistics.interval_s);
}

}  // namespace weir
