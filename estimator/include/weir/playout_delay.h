// The maximum playout delay of video, for hosts that have a lever over it: an SFU with the playout-delay RTP header
// extension, a native receiver.
#ifndef WEIR_PLAYOUT_DELAY_H_
#define WEIR_PLAYOUT_DELAY_H_

#include <algorithm>

#include "weir/units.h"

namespace weir {

// Unit of the header extension, http://www.webrtc.org/experiments/rtp-hdrext/playout-delay.
inline constexpr TimeDelta kPlayoutDelayUnit = TimeDelta::Millis(10);
// The minimum to send with the maximum. libwebrtc renders frames as they arrive, without a jitter buffer, if the
// minimum is 0 and the maximum at most 500 ms.
inline constexpr TimeDelta kMinPlayoutDelay = kPlayoutDelayUnit;
// Range of the maximum. Audio that waits for up to 225 ms is at most 125 ms behind video with the lower bound, the
// limit of ITU-T BT.1359-1. The upper one was chosen by call quality, which a lower one raises, and by the number of
// calls with audio in that range, which a lower one reduces (docs/virtual_calls.md).
inline constexpr TimeDelta kSmallestMaxPlayoutDelay = TimeDelta::Millis(100);
inline constexpr TimeDelta kLargestMaxPlayoutDelay = TimeDelta::Millis(250);

// Inputs of MaxPlayoutDelay(). Untrusted.
struct PlayoutDelayInput {
  TimeDelta jitter;           // RFC 3550, section 6.4.1, of the video stream at its receiver
  TimeDelta round_trip_time;  // the latest
  TimeDelta frame_interval;   // between two frames
};

// Returns the time for which a receiver needs to hold video so that it renders frames that arrive late or are repaired
// by NACK, as a maximum playout delay: in whole units, within the range above. `previous` is the last result, or zero.
//
//   delay = 3 J + 2 RTT + T
//
// 1. J: three times RFC 3550's jitter, a mean of absolute differences, is their 95th percentile if they are Laplacian
//    (ln 20 = 3.0).
// 2. RTT: a request and its retransmission take a round trip. libwebrtc repeats the request after another one.
// 3. T: the next frame shows the loss of a frame's last packet.
//
// The result rises at once and falls by at most one unit. Call it with each receiver report, about once a second, so
// that rare events are remembered for some seconds.
constexpr TimeDelta MaxPlayoutDelay(const PlayoutDelayInput& input, TimeDelta previous = TimeDelta::Zero()) {
  const auto bounded = [](TimeDelta part) { return std::clamp(part, TimeDelta::Zero(), kLargestMaxPlayoutDelay); };
  const TimeDelta needed =
      bounded(input.jitter) * 3 + bounded(input.round_trip_time) * 2 + bounded(input.frame_interval);
  const int64_t unit_us = kPlayoutDelayUnit.us();
  const TimeDelta whole = TimeDelta::Micros((needed.us() + unit_us - 1) / unit_us * unit_us);
  return std::clamp(std::max(whole, previous - kPlayoutDelayUnit), kSmallestMaxPlayoutDelay, kLargestMaxPlayoutDelay);
}

}  // namespace weir

#endif  // WEIR_PLAYOUT_DELAY_H_
