// Detection of a queue that remains although the sender backs off.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_PERSISTENT_DELAY_H_
#define WEIR_ESTIMATOR_SRC_SENDER_PERSISTENT_DELAY_H_

#include <algorithm>

#include "weir/units.h"

namespace weir {

// Detects a queue that other flows keep full, from the one-way delays in a sender's feedback. A queue of the sender's
// own drains within seconds while its congestion window limits it. So a delay persists
//
// 1. once all messages of 1 s had 100 ms or more above the base plus the sender's own delay;
// 2. until all messages of 1 s had less than 50 ms above them.
//
// At most 500 ms of the time between two messages count, since a path that delivers nothing is no competition. The base
// is the lowest delay and rises by 5 ms a second: a route that is longer by 150 ms counts for 20 s.
//
// StandingDelay, on which rates depend, requires a delay that stays constant after the rate fell, which that of a queue
// filled by TCP seldom does. This weaker evidence is for decisions that do little harm if it is wrong.
class PersistentDelay {
 public:
  // Called for each message with its arrival time and the one-way delay of its latest packet. `own` is the transmission
  // time of the smallest window, which on a slow link is a queue of hundreds of milliseconds. `now` must not be before
  // that of an earlier call.
  void Update(Timestamp now, TimeDelta delay, TimeDelta own) {
    if (!latest_.IsFinite()) {
      base_ = delay;
      latest_ = latest_short_ = latest_long_ = now;
    }
    const TimeDelta gap = now - latest_;
    latest_ = now;
    if (gap > kStall) {
      latest_short_ += gap - kStall;
      latest_long_ += gap - kStall;
    }
    base_ = std::min(base_ + gap * kBaseGrowth, delay);
    const TimeDelta queue = delay - base_ - own;
    if (queue < kLongQueue) latest_short_ = now;
    if (queue >= kShortQueue) latest_long_ = now;
    persists_ = persists_ ? now - latest_long_ < kPersistent : now - latest_short_ >= kPersistent;
  }

  bool persists() const { return persists_; }

 private:
  static constexpr TimeDelta kPersistent = TimeDelta::Seconds(1);
  static constexpr TimeDelta kLongQueue = TimeDelta::Millis(100);
  static constexpr TimeDelta kShortQueue = TimeDelta::Millis(50);
  static constexpr TimeDelta kStall = TimeDelta::Millis(500);
  static constexpr double kBaseGrowth = 0.005;

  bool persists_ = false;
  TimeDelta base_ = TimeDelta::Zero();
  Timestamp latest_ = Timestamp::MinusInfinity();
  // Times of the latest message below kLongQueue and of the latest at kShortQueue or more, plus the stalls since.
  Timestamp latest_short_ = Timestamp::MinusInfinity();
  Timestamp latest_long_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_PERSISTENT_DELAY_H_
