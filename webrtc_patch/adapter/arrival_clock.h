// Arrival times, moved onto the clock of who hosts the estimator.
//
// libwebrtc stamps packets with the time at which the kernel received them, which is of the wall clock, while its own
// clock is monotonic; other hosts use yet other time bases.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_

#include <algorithm>

#include "weir/units.h"

namespace weir::adapter {

// Moves arrival times of any base onto the host's clock. The smallest delay between arrival and hand-over that was seen
// counts as none; a delay of more than a second more than that means that the base was set, and begins anew.
class ArrivalClock {
 public:
  // `now` is when the packet was handed over. The result is never after it.
  Timestamp ToMonotonic(Timestamp arrival_time, Timestamp now) {
    const TimeDelta offset = now - arrival_time;
    if (!started_ || offset - offset_ > kMaxHandOverTime) {
      started_ = true;
      offset_ = offset;
    }
    offset_ = std::min(offset_, offset);
    return arrival_time + offset_;
  }

 private:
  static constexpr TimeDelta kMaxHandOverTime = TimeDelta::Seconds(1);

  bool started_ = false;
  TimeDelta offset_ = TimeDelta::Zero();
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_
