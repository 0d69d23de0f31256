// RFC 8888 feedback at the receiver, with the timing of libwebrtc M150's CongestionControlFeedbackGenerator but not its
// limit of 500 kbps of feedback, which media of 200 Mbps would reach.
#ifndef WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_
#define WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_

#include <array>
#include <cstdint>
#include <optional>

#include "endpoints/rtcp_messages.h"
#include "endpoints/transport_feedback.h"
#include "link/packet.h"

namespace weir::sim {

class CongestionControlFeedbackGenerator {
 public:
  // Starts polling, as libwebrtc does, because an arrival triggers no report before the next one is allowed.
  void Start(int64_t now_ns) { SetPollTime(now_ns); }

  // `sequence_number`: in the packet's stream, unwrapped.
  void OnPacket(const Packet& packet, int64_t sequence_number, int64_t arrival_time_ns);
  // Call after each arrival and at poll_time_ns().
  std::optional<CongestionControlFeedback> OnTimeout(int64_t now_ns);
  int64_t poll_time_ns() const { return poll_time_ns_; }

 private:
  // The end of a frame or kIntervalNs after the first packet, but at least kIntervalNs after the last report.
  int64_t NextReportNs(int64_t now_ns) const;
  void SetPollTime(int64_t now_ns) { poll_time_ns_ = NextReportNs(now_ns); }

  std::array<TransportFeedbackBuilder, kStreamsPerFlow> streams_;
  std::optional<int64_t> first_arrival_ns_;
  bool marker_seen_ = false;
  int64_t next_allowed_ns_ = 0;
  int64_t poll_time_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_
