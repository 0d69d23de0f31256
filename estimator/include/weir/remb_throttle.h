// When to send REMB: seldom, but never late with bad news.
#ifndef WEIR_REMB_THROTTLE_H_
#define WEIR_REMB_THROTTLE_H_

#include "weir/units.h"

namespace weir {

// The first target is due at once; then a decrease of 3 % or more at once, any other change after 200 ms, and no change
// at all after 1 s, since feedback can be lost.
class RembThrottle {
 public:
  static constexpr TimeDelta kMinInterval = TimeDelta::Millis(200);
  static constexpr TimeDelta kRepeatInterval = TimeDelta::Seconds(1);
  static constexpr double kUrgentDecrease = 0.03;

  // When feedback is due, as things stand; MinusInfinity: at once.
  Timestamp DueTime(DataRate target) const;
  void OnSent(DataRate target, Timestamp now);

 private:
  bool sent_ = false;
  DataRate last_target_ = DataRate::Zero();
  Timestamp last_time_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_REMB_THROTTLE_H_
