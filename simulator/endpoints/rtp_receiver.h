// The receiving end of an RTP flow: hosts the bandwidth estimator and sends its REMB, or sends transport feedback for a
// rate controller at the sender.
#ifndef WEIR_SIMULATOR_ENDPOINTS_RTP_RECEIVER_H_
#define WEIR_SIMULATOR_ENDPOINTS_RTP_RECEIVER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/event.h"
#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "endpoints/congestion_control_feedback.h"
#include "endpoints/controllers.h"
#include "endpoints/flow.h"
#include "endpoints/rtcp_messages.h"
#include "endpoints/transport_feedback.h"
#include "link/packet.h"
#include "repair/video_repair.h"
#include "weir/bandwidth_estimator.h"
#include "weir/remb_sender.h"

namespace weir::sim {

// A link delivers a packet as soon as its arrival time is known, which is before that time. Packets wait here and are
// processed in the order of arrival, before this end's next action.
class RtpReceiver final : private PacketSink {
 public:
  // Without an estimator at the receiver there is no REMB. With `wake_on_arrival` the estimator is polled after each
  // packet, at the cost of an event each, not only at its own times. Requests lost video again if the flow's media is
  // repaired. All arguments and this object must outlive the simulation's last event.
  RtpReceiver(const Flow& flow, const FlowController& controller, PacketSink* rtcp_sink);

  PacketSink* rtp_sink() { return this; }
  int64_t rtcp_packets_sent() const { return rtcp_packets_sent_; }
  // Generic NACK and PLI messages, as in webrtc-stats.
  int64_t nack_count() const { return nack_count_; }
  int64_t pli_count() const { return pli_count_; }

  // Processes the packets that have arrived by `until`, which is not in the future. Does not change later actions.
  void ProcessArrivals(SimTime until);

 private:
  struct PendingPacket {
    Packet packet;
    SimTime arrival_time = kTimeZero;
  };
  // RFC 3550 appendix A: sequence numbers are unwrapped from their 16 bits alone.
  struct Stream {
    bool started = false;
    int64_t first = 0;
    int64_t highest = 0;
    int64_t received = 0;
  };

  // PacketSink, for RTP and the sender's RTCP.
  bool needs_event() const override { return false; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;

  void OnStart();
  void OnEstimatorTimeout();
  void OnFeedbackTimeout();
  void OnReportTimeout();
  void OnRepairTimeout();

  void Process(PendingPacket& pending);
  void OnFec(const Packet& packet, SimTime arrival_time);
  // Counts a packet and returns its unwrapped sequence number in its stream.
  int64_t CountPacket(const PacketArrival& rtp);
  void SetFeedbackTimer(SimTime now);
  void SetEstimatorTimer(SimTime now);
  std::vector<uint8_t> SerializedRemb() const;
  ReceiverReport BuildReport(SimTime now) const;
  void SendRtcp(std::shared_ptr<ReceiverRtcp> message);

  const Flow& flow_;
  const FlowSpec& spec_;
  // Null if no controller decides at the receiver.
  BandwidthEstimator* const estimator_;
  const bool wake_on_arrival_;
  // A controller at the sender needs one of these.
  const bool transport_feedback_;
  const bool congestion_control_feedback_;
  RembSender remb_sender_;
  PacketSink* const rtcp_sink_;
  FlowObserver* const observer_;

  RingBuffer<PendingPacket> pending_;
  std::array<Stream, kStreamsPerFlow> streams_;
  TransportFeedbackBuilder feedback_builder_;
  CongestionControlFeedbackGenerator congestion_control_generator_;
  // The sender's last report: when it was sent, and when it arrived.
  std::optional<std::pair<SimTime, SimTime>> last_sender_report_;
  int64_t rtcp_packets_sent_ = 0;
  std::optional<VideoRepair> repair_;
  int64_t nack_count_ = 0;
  int64_t pli_count_ = 0;

  MemberEvent<RtpReceiver, &RtpReceiver::OnStart> start_event_;
  Timer<RtpReceiver, &RtpReceiver::OnEstimatorTimeout> estimator_timer_;
  Timer<RtpReceiver, &RtpReceiver::OnFeedbackTimeout> feedback_timer_;
  Timer<RtpReceiver, &RtpReceiver::OnReportTimeout> report_timer_;
  Timer<RtpReceiver, &RtpReceiver::OnRepairTimeout> repair_timer_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_RTP_RECEIVER_H_
