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
// counts as none.
//
// A base that was set forward makes that delay smaller, which is followed at once. One that was set back makes it
// larger, as does a host that was busy. It was set back when packets arrive before the one before them, or with a delay
// longer than a host is busy for. Smaller steps are followed as drift is, slowly, so that neither passes for a queue.
class ArrivalClock {
 public:
  // `now` is when the packet was handed over, not before that of an earlier call. The result is never after it.
  Timestamp ToMonotonic(Timestamp arrival_time, Timestamp now) {
    const TimeDelta offset = now - arrival_time;
    if (!started_ || arrival_time < latest_arrival_ - kMaxReordering || offset - offset_ > kMaxHandOverTime) {
      started_ = true;
      offset_ = offset;
      latest_arrival_ = arrival_time;
      BeginWindow(now);
    }
    latest_arrival_ = std::max(latest_arrival_, arrival_time);
    lowest_offset_ = std::min(lowest_offset_, offset);
    if (now >= window_end_) {
      offset_ = std::min(lowest_offset_, offset_ + kMaxDrift);
      BeginWindow(now);
    }
    offset_ = std::min(offset_, offset);
    return arrival_time + offset_;
  }

 private:
  // Packets of several sockets are handed over one socket after the other.
  static constexpr TimeDelta kMaxReordering = TimeDelta::Millis(20);
  static constexpr TimeDelta kMaxHandOverTime = TimeDelta::Millis(250);
  // 500 ppm, as much as NTP slews a clock by.
  static constexpr TimeDelta kWindow = TimeDelta::Seconds(10);
  static constexpr TimeDelta kMaxDrift = TimeDelta::Millis(5);

  void BeginWindow(Timestamp now) {
    window_end_ = now + kWindow;
    lowest_offset_ = TimeDelta::PlusInfinity();
  }

  bool started_ = false;
  TimeDelta offset_ = TimeDelta::Zero();
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
  Timestamp window_end_ = Timestamp::MinusInfinity();
  // Of this window.
  TimeDelta lowest_offset_ = TimeDelta::PlusInfinity();
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_
