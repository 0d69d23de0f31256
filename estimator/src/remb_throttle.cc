#include "weir/remb_throttle.h"

namespace weir {

Timestamp RembThrottle::DueTime(DataRate target) const {
  if (!sent_ || target <= last_target_ * (1.0 - kUrgentDecrease)) return Timestamp::MinusInfinity();
  return last_time_ + (target == last_target_ ? kRepeatInterval : kMinInterval);
}

void RembThrottle::OnSent(DataRate target, Timestamp now) {
  sent_ = true;
  last_target_ = target;
  last_time_ = now;
}

}  // namespace weir
