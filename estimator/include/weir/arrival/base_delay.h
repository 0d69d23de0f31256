// The path's own one-way delay, which queueing delay is measured against.
#ifndef WEIR_ARRIVAL_BASE_DELAY_H_
#define WEIR_ARRIVAL_BASE_DELAY_H_

#include <array>
#include <cstddef>

#include "weir/arrival/delay_level.h"
#include "weir/arrival/standing_delay.h"
#include "weir/units.h"

namespace weir {

// Follows the path, whose own delay changes with its route and with the clocks of its ends. Of each slot of at least
// 100 ms and six packets the smallest delay counts; the base
//   falls to the median of the last three of these: one packet that a clock or a sender misstates does not move it;
//   rises to the smallest of the last 30 s;
//   rises to a level that stays although the rate fell (DelayLevel).
// Before there are three slots it is the smallest delay seen, and so it is again after 30 s without a packet.
class BaseDelay {
 public:
  void Restart(Timestamp time, TimeDelta delay);
  // Takes in a packet's delay and the bytes that came since the one before, and returns the base. `time` must not be
  // before that of an earlier call.
  TimeDelta Update(Timestamp time, TimeDelta delay, DataSize size);

  // As of the latest packet.
  bool stands() const { return standing_.stands(); }

  // From now on delays are measured against a clock that is quicker by this, in seconds a second: what came before is
  // moved to what it would have been, ending in the same delay now.
  void Tilt(Timestamp time, double skew);

 private:
  static constexpr TimeDelta kBucket = TimeDelta::Seconds(3);
  static constexpr size_t kBuckets = 10;

  void EndSlot(Timestamp time);
  // To the level, if there is one.
  void Rise(Timestamp time, const DelayLevel& level);
  void AddToWindow(Timestamp time, TimeDelta delay);
  TimeDelta Lowest() const;

  TimeDelta base_ = TimeDelta::Zero();
  DelaySlot slot_;
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  Timestamp latest_ = Timestamp::MinusInfinity();
  // Of the last three slots.
  std::array<TimeDelta, 3> minima_{TimeDelta::Zero(), TimeDelta::Zero(), TimeDelta::Zero()};
  size_t slots_ = 0;

  // The smallest delay of each 3 s, in us.
  std::array<int64_t, kBuckets> buckets_us_{};
  size_t bucket_ = 0;
  Timestamp bucket_end_ = Timestamp::MinusInfinity();

  DelayLevel level_;
  // The same of slots that are eight of the others: a rate that falls slowly falls too.
  DelaySlot long_slot_;
  DelayLevel long_level_;
  StandingDelay standing_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_BASE_DELAY_H_
