// Observes RTCP packets, and derives capture times from sender reports.
#ifndef WEIR_CALLS_PEER_RTCP_OBSERVER_H_
#define WEIR_CALLS_PEER_RTCP_OBSERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/rtc_event_log/rtc_event_log_factory_interface.h"
#include "api/rtc_event_log_output.h"
#include "system_wrappers/include/ntp_time.h"
#include "weir/units.h"

namespace weir::peer {

// Callbacks for the decrypted RTCP packets that libwebrtc sends and receives, from its event log. Called on libwebrtc's
// threads, possibly concurrently, until the PeerConnection is destroyed.
struct RtcpObserver {
  std::function<void(DataRate rate)> on_remb_sent;
  using OnSenderReport = std::function<void(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp)>;
  OnSenderReport on_sender_report;
  OnSenderReport on_sender_report_sent;
};

// `keeps_log`: StartRtcEventLog() can also write the event log to a file.
std::unique_ptr<webrtc::RtcEventLogFactoryInterface> MakeRtcpObserverFactory(const RtcpObserver& observer,
                                                                             bool keeps_log);

// For StartRtcEventLog(); null if the file cannot be created.
std::unique_ptr<webrtc::RtcEventLogOutput> OpenEventLog(const std::string& path);

// Computes capture times of frames on this machine's CLOCK_MONOTONIC from RTCP sender reports.
// Exact to microseconds if sender and receiver share a clock, as on one machine. libwebrtc's own mapping derives the
// clock difference from round-trip times, with an error of half the one-way queueing delay. Thread-safe.
class SenderClock {
 public:
  SenderClock();

  void OnSenderReport(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp);
  // For video, whose RTP clock runs at 90 kHz. nullopt before the stream's first sender report.
  std::optional<int64_t> CaptureTimeMicros(uint32_t ssrc, uint32_t rtp_timestamp) const;

 private:
  struct Report {
    int64_t monotonic_us;
    uint32_t rtp_timestamp;
  };

  // CLOCK_MONOTONIC minus the time since 1970; read once, as senders do.
  const int64_t wall_to_monotonic_us_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Report> reports_;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_RTCP_OBSERVER_H_
