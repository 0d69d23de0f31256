// RFC 8888 feedback at the receiver, with the timing of libwebrtc M150's CongestionControlFeedbackGenerator but not its
// limit of 500 kbps of feedback, which media of 200 Mbps would reach.
#ifndef WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_
#define WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_

#include <array>
#include <cstdint>
#include <optional>

#include "core/sim_time.h"
#include "endpoints/rtcp_messages.h"
#include "endpoints/transport_feedback.h"
#include "link/packet.h"

namespace weir::sim {

class CongestionControlFeedbackGenerator {
 public:
  // Starts polling, as libwebrtc does, because an arrival triggers no report before the next one is allowed.
  void Start(SimTime now) { SetPollTime(now); }

  // `sequence_number`: in the packet's stream, unwrapped.
  void OnPacket(const Packet& packet, int64_t sequence_number, SimTime arrival_time);
  // Call after each arrival and at poll_time().
  std::optional<CongestionControlFeedback> OnTimeout(SimTime now);
  SimTime poll_time() const { return poll_time_; }

 private:
  // The end of a frame or kInterval after the first packet, but at least kInterval after the last report.
  SimTime NextReport(SimTime now) const;
  void SetPollTime(SimTime now) { poll_time_ = NextReport(now); }

  std::array<TransportFeedbackBuilder, kStreamsPerFlow> streams_;
  std::optional<SimTime> first_arrival_;
  bool marker_seen_ = false;
  SimTime next_allowed_ = kTimeZero;
  SimTime poll_time_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_CONGESTION_CONTROL_FEEDBACK_H_
