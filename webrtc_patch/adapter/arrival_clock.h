// Converts arrival times to the clock of the estimator's host.
//
// libwebrtc stamps packets with the kernel's receive time, which is on the wall clock, while its own clock is
// monotonic; other hosts use yet other time bases.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_ARRIVAL_CLOCK_H_

#include <algorithm>

#include "weir/units.h"

namespace weir::adapter {

// Converts arrival times of any time base to the host's clock. The smallest observed delay between arrival and
// hand-over counts as zero.
//
// Setting the base forward makes that delay smaller; the offset follows at once. Setting it back makes the delay
// larger, as does a busy host, but that hands over all packets of the meantime, oldest first. The base was set back if
//   1. a packet arrives more than kMaxReordering before the latest,
//   2. a packet arrives after a pause above kPause with a delay above kPause, or
//   3. the delay exceeds kLongestStall, longer than any host is busy.
// Smaller steps are followed slowly, like drift, so that they do not look like queueing.
class ArrivalClock {
 public:
  // `now` is the hand-over time of the packet and must not decrease between calls. The result is at most `now`.
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
  // 500 ppm, the rate at which NTP slews a clock.
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
