// A stream's own rhythm: how long it may be silent before that means something.
#ifndef WEIR_GUARD_PACKET_RHYTHM_H_
#define WEIR_GUARD_PACKET_RHYTHM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/units.h"

namespace weir {

class PacketRhythm {
 public:
  // Packets were noticed at `now`, which must not be before that of an earlier call; `packets` is above 0.
  void OnPackets(uint64_t packets, Timestamp now);

  bool any() const { return first_.IsFinite(); }
  Timestamp first() const { return first_; }
  Timestamp latest() const { return latest_[kLatest - 1]; }
  // Since the latest packet; zero before the first.
  TimeDelta Silence(Timestamp now) const { return any() ? now - latest() : TimeDelta::Zero(); }
  // The last three gaps between packets taken together, 5 s at most.
  TimeDelta LatestGaps() const { return std::min(latest() - latest_[0], kMaxGaps); }
  // Each of these took 200 ms or more.
  bool SendsFew() const;

 private:
  static constexpr size_t kLatest = 4;
  static constexpr TimeDelta kMaxGaps = TimeDelta::Seconds(5);

  Timestamp first_ = Timestamp::MinusInfinity();
  // When the last packets were noticed, the oldest first; before there were so many, the first stands for those before
  // it.
  std::array<Timestamp, kLatest> latest_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity(),
                                            Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
};

}  // namespace weir

#endif  // WEIR_GUARD_PACKET_RHYTHM_H_
