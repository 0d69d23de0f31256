// The sent packets and the feedback of an RTC event log, as the sender's network controller received them: libwebrtc's
// own history of packets, run again on what was logged.
#ifndef WEIR_WEBRTC_PATCH_EVENT_LOG_FEEDBACK_REPLAY_H_
#define WEIR_WEBRTC_PATCH_EVENT_LOG_FEEDBACK_REPLAY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "logging/rtc_event_log/rtc_event_log_parser.h"
#include "modules/congestion_controller/rtp/transport_feedback_adapter.h"

namespace weir {

// Calls come in the order of the log.
class FeedbackReplay {
 public:
  // `rfc8888`: the receiver reports by RFC 8888, so packets have no transport-wide sequence number.
  explicit FeedbackReplay(bool rfc8888) : rfc8888_(rfc8888) {}

  void OnProbeCluster(const webrtc::LoggedBweProbeClusterCreatedEvent& cluster);
  // The packet as the controller saw it; nullopt where no feedback is expected about it. A log does not have which
  // packets were of a probe cluster: the next one of video begins it, and all that follow are of it until it is
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
    // Packets that the pacer sends at once are one probe.
    int probes_sent = 0;
    webrtc::Timestamp last_sent = webrtc::Timestamp::MinusInfinity();
  };

  // The pacing information of the packet that is sent now.
  webrtc::PacedPacketInfo TakePacingInfo(webrtc::Timestamp time, int packet_bytes, bool audio);

  const bool rfc8888_;
  webrtc::TransportFeedbackAdapter history_;
  std::deque<Cluster> clusters_;
  uint16_t next_sequence_number_ = 0;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_EVENT_LOG_FEEDBACK_REPLAY_H_
