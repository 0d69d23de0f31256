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
// larger, as does a host that was busy; but a busy host hands over what came in the meantime, from its beginning on. So
// the base was set back when a packet arrives before the one before it, or after a pause with a delay longer than that,
// or with one longer than any host is busy for. Smaller steps are followed as drift is, slowly, lest they pass for a
// queue.
class ArrivalClock {
 public:
  // `now` is when the packet was handed over, not before that of an earlier call. The result is never after it.
  Timestamp ToMonotonic(Timestamp arrival_time, Timestamp now) {
    if (!started_ || WasSetBack(arrival_time - latest_arrival_, now - arrival_time - offset_)) {
      started_ = true;
      offset_ = now - arrival_time;
      latest_arrival_ = arrival_time;
      BeginWindow(now);
    }
    latest_arrival_ = std::max(latest_arrival_, arrival_time);
    lowest_offset_ = std::min(lowest_offset_, now - arrival_time);
    if (now >= window_end_) {
      offset_ = std::min(lowest_offset_, offset_ + kMaxDrift);
      BeginWindow(now);
    }
    offset_ = std::min(offset_, now - arrival_time);
    return arrival_time + offset_;
  }

 private:
  // Packets of several sockets are handed over one socket after the other.
  static constexpr TimeDelta kMaxReordering = TimeDelta::Millis(20);
  static constexpr TimeDelta kPause = TimeDelta::Millis(100);
  static constexpr TimeDelta kLongestStall = TimeDelta::Seconds(1);
  // 500 ppm, as much as NTP slews a clock by.
  static constexpr TimeDelta kWindow = TimeDelta::Seconds(10);
  static constexpr TimeDelta kMaxDrift = TimeDelta::Millis(5);

  static bool WasSetBack(TimeDelta since_latest, TimeDelta hand_over) {
    return since_latest < TimeDelta::Zero() - kMaxReordering || hand_over > kLongestStall ||
           (since_latest > kPause && hand_over > kPause);
  }
  void BeginWindow(Timestamp now) {
    window_end_ = now + kWindow;
    lowest_offset_ = TimeDelta::PlusInfinity();
  }

  bool started_ = false;
  TimeDelta offset_ = TimeDelta::Zero();
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
  Timestamp window_end_ = Timestamp::MinusInfinity();
  // In this window.
  TimeDelta lowest_offset_ = TimeDelta::PlusInfinity();
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_
