#include "weir/competing_flows.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

constexpr double kShare = 0.5;
constexpr TimeDelta kHalfLife = TimeDelta::Seconds(100);
constexpr double kLoses = 0.05;
constexpr TimeDelta kLongQueue = TimeDelta::Millis(120);

}  // namespace

void CompetingFlows::OnArrival(const Arrival& arrival) {
  delay_stands_ = arrival.delay_stands;
  queueing_delay_ = arrival.queueing_delay;
}

void CompetingFlows::Update(const QueueWatch& watch, TimeDelta elapsed) {
  highest_rate_bps_ = std::max(highest_rate_bps_ * std::exp2(-(elapsed / kHalfLife)),
                               static_cast<double>(watch.LatestReceiveRate().bps()));
  loses_ = watch.LatestLossRatio() >= kLoses;
}

DataRate CompetingFlows::Share() const {
  if (!delay_stands_ || loses_ || queueing_delay_ > kLongQueue) return DataRate::Zero();
  return DataRate::BitsPerSecond(static_cast<int64_t>(kShare * highest_rate_bps_));
}

}  // namespace weir
