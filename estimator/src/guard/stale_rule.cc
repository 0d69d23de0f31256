#include "weir/guard/stale_rule.h"

#include <algorithm>
#include <cmath>

#include "weir/arrival/arrival.h"

namespace weir {
namespace {

constexpr TimeDelta kMinSilence = TimeDelta::Millis(500);
constexpr DataSize kThreeFullPackets = kFullPacket * 3;
constexpr TimeDelta kHalfLife = TimeDelta::Seconds(1);

}  // namespace

TimeDelta StaleRule::SilenceLimit(const PacketRhythm& rhythm) const {
  return std::max({kMinSilence, kThreeFullPackets / rate_at_packets_, rhythm.LatestGaps()});
}

DataRate StaleRule::Limit(const PacketRhythm& rhythm, Timestamp now) const {
  const TimeDelta beyond = rhythm.Silence(now) - SilenceLimit(rhythm);
  return rate_at_packets_ * std::exp2(-(beyond / kHalfLife));
}

}  // namespace weir
