// The guard's answer to silence.
#ifndef WEIR_GUARD_STALE_RULE_H_
#define WEIR_GUARD_STALE_RULE_H_

#include "weir/guard/packet_rhythm.h"
#include "weir/units.h"

namespace weir {

// Nothing arrived for max(500 ms, 3 * 1200 bytes / S, min(G, 5 s)), S being the rate in force when the silence began
// and G the last three gaps between packets taken together: the rate is at most S, halved for each further second. The
// second term keeps a slow sender's packets from passing for silence, the third those of audio that sends few (Opus
// with DTX) while video is muted; three frames of running video are 100 ms, so that there 500 ms decide. Counts from
// the first packet on.
class StaleRule {
 public:
  // The rate in force when the latest packets were noticed, or before the first.
  void SetRateAtPackets(DataRate rate) { rate_at_packets_ = rate; }
  DataRate rate_at_packets() const { return rate_at_packets_; }
  bool IsStale(const PacketRhythm& rhythm, Timestamp now) const { return rhythm.Silence(now) >= SilenceLimit(rhythm); }
  // While it is stale.
  DataRate Limit(const PacketRhythm& rhythm, Timestamp now) const;
  TimeDelta SilenceLimit(const PacketRhythm& rhythm) const;

 private:
  DataRate rate_at_packets_ = DataRate::Zero();
};

}  // namespace weir

#endif  // WEIR_GUARD_STALE_RULE_H_
