// When a sender captured a frame, on this machine's CLOCK_MONOTONIC, from its RTCP sender reports.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_SENDER_CLOCK_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_SENDER_CLOCK_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "system_wrappers/include/ntp_time.h"

namespace weir::peer {

// True to the microsecond's order only where sender and receiver share a clock, as on one machine; between machines
// as far as their clocks agree. libwebrtc's own mapping guesses the clock difference from round-trip times, which is
// wrong by half of what queues one way. May be used from any thread.
class SenderClock {
 public:
  SenderClock();

  void OnSenderReport(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp);
  // For video, whose RTP clock runs at 90 kHz. Nothing before the stream's first sender report.
  std::optional<int64_t> CaptureTimeMicros(uint32_t ssrc, uint32_t rtp_timestamp) const;

 private:
  struct Report {
    int64_t monotonic_us;
    uint32_t rtp_timestamp;
  };

  // What to add to a time since 1970 to have CLOCK_MONOTONIC; taken once, as senders take theirs.
  const int64_t wall_to_monotonic_us_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Report> reports_;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_SENDER_CLOCK_H_
