// Reconstructs the sent packets and the feedback of an RTC event log as the sender's network controller received them,
// by replaying the log through libwebrtc's own packet history.
#ifndef WEIR_LOGS_EVENT_LOG_FEEDBACK_REPLAY_H_
#define WEIR_LOGS_EVENT_LOG_FEEDBACK_REPLAY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "logging/rtc_event_log/rtc_event_log_parser.h"
#include "modules/congestion_controller/rtp/transport_feedback_adapter.h"

namespace weir {

// Call the methods in the order of the log.
class FeedbackReplay {
 public:
  // `rfc8888`: the receiver sends RFC 8888 feedback, so packets have no transport-wide sequence number.
  explicit FeedbackReplay(bool rfc8888) : rfc8888_(rfc8888) {}

  void OnProbeCluster(const webrtc::LoggedBweProbeClusterCreatedEvent& cluster);
  // Returns the packet as the controller saw it; nullopt if no feedback is expected for it. A log does not record which
  // packets belong to a probe cluster: the next video packet starts it, and all packets belong to it until it is
  // complete.
  std::optional<webrtc::SentPacket> OnSentPacket(const webrtc::LoggedPacketInfo& packet);
  std::optional<webrtc::TransportPacketsFeedback> OnFeedback(const webrtc::rtcp::TransportFeedback& feedback,
                                                             webrtc::Timestamp time) {
    return history_.ProcessTransportFeedback(feedback, time);
  }
  std::optional<webrtc::TransportPacketsFeedback> OnFeedback(const webrtc::rtcp::CongestionControlFeedback& feedback,
                                                             webrtc::Timestamp time) {
    return history_.ProcessCongestionControlFeedback(feedback, time);
  }

 private:
  struct Cluster {
    bool IsComplete() const {
      return probes_sent >= info.probe_cluster_min_probes &&
             info.probe_cluster_bytes_sent >= info.probe_cluster_min_bytes;
    }

    webrtc::PacedPacketInfo info;
    // Packets that the pacer sends at the same time count as one probe.
    int probes_sent = 0;
    webrtc::Timestamp last_sent = webrtc::Timestamp::MinusInfinity();
  };

  webrtc::PacedPacketInfo TakePacingInfo(webrtc::Timestamp time, int packet_bytes, bool audio);

  const bool rfc8888_;
  webrtc::TransportFeedbackAdapter history_;
  std::deque<Cluster> clusters_;
  uint16_t next_sequence_number_ = 0;
};

}  // namespace weir

#endif  // WEIR_LOGS_EVENT_LOG_FEEDBACK_REPLAY_H_
