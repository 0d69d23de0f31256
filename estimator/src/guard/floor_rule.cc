#include "weir/guard/floor_rule.h"

#include <algorithm>
#include <cmath>

#include "weir/guard/slew_rule.h"

namespace weir {
namespace {

constexpr double kRetainedFactor = 0.97;
constexpr double kCalmFactor = 1.01;
constexpr double kShareFactor = 1.03;
constexpr TimeDelta kFactorTime = TimeDelta::Millis(100);
constexpr double kCalmHeadroom = 1.1;
constexpr double kCalmShare = 0.5;
constexpr TimeDelta kCalmMemory = TimeDelta::Seconds(3);

}  // namespace

DataRate FloorRule::Limit(const GuardFacts& facts, const QueueWatch& watch, const PacketRhythm& rhythm) {
  competing_flows_.Update(watch, facts.elapsed);
  share_without_queue_ += (static_cast<double>(facts.sign == QueueSign::kNone) - share_without_queue_) *
                          std::clamp(facts.elapsed / kCalmMemory, 0.0, 1.0);
  if (rhythm.SendsFew() && rhythm.Silence(facts.now) < rhythm.LatestGaps() && !watch.LatestWaited()) return facts.rate;
  if (facts.starting) return SlewRule::StartFloor(facts);
  const double steps = facts.elapsed / kFactorTime;
  const DataRate share =
      std::min(competing_flows_.Share(facts.delay_stands), facts.rate * std::pow(kShareFactor, steps));
  if (facts.sign != QueueSign::kNone) return share;
  const bool calm = share_without_queue_ > kCalmShare && watch.IsNoisy();
  const DataRate changed = facts.rate * std::pow(calm ? kCalmFactor : kRetainedFactor, steps);
  return std::max(share, std::min(changed, watch.HighestReceiveRate() * (calm ? kCalmHeadroom : 1.0)));
}

}  // namespace weir
