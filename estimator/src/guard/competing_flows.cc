#include "weir/guard/competing_flows.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

constexpr double kShare = 0.5;
constexpr TimeDelta kHalfLife = TimeDelta::Seconds(100);
constexpr double kLoses = 0.05;

}  // namespace

void CompetingFlows::Update(const QueueWatch& watch, TimeDelta elapsed) {
  highest_rate_bps_ = std::max(highest_rate_bps_ * std::exp2(-(elapsed / kHalfLife)),
                               static_cast<double>(watch.LatestReceiveRate().bps()));
  loses_ = watch.LatestLossRatio() >= kLoses;
}

DataRate CompetingFlows::Share(bool delay_stands) const {
  if (!delay_stands || loses_) return DataRate::Zero();
  return DataRate::BitsPerSecond(static_cast<int64_t>(kShare * highest_rate_bps_));
}

}  // namespace weir
