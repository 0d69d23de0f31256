// The sending end of an RTP flow: media, pacer, RTP, and the rate that drives them. The rate comes from REMB, applied
// at once within the limit of libwebrtc's sender under loss, or from a controller at the sender, which this end hosts.
#ifndef WEIR_SIMULATOR_ENDPOINTS_RTP_SENDER_H_
#define WEIR_SIMULATOR_ENDPOINTS_RTP_SENDER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/sim_time.h"
#include "endpoints/controllers.h"
#include "endpoints/flow.h"
#include "endpoints/pacer.h"
#include "endpoints/rtcp_messages.h"
#include "endpoints/rtp_format.h"
#include "endpoints/transport_feedback.h"
#include "link/packet.h"
#include "media/media_source.h"
#include "repair/byte_window.h"
#include "repair/fec.h"
#include "repair/nack.h"
#include "scenario/rtp_spec.h"
#include "sender_loss_limit.h"
#include "weir/network_types.h"
#include "weir/sender_controller.h"

namespace weir::sim {

class RtpSender final : private PacketSink {
 public:
  // A controller at the sender receives REMB in addition to transport feedback; if there is none, REMB sets the rate.
  // Retransmits video, protects it by FEC under loss and sends key frames on request if the flow's media is repaired.
  // Flow, controller and this object must outlive the simulation's last event.
  RtpSender(const Flow& flow, const TargetRateConstraints& constraints, const FlowController& controller,
            std::unique_ptr<MediaSource> source);

  // Sets the destination of packets. Call before the simulation starts.
  void SetReceiver(PacketSink* receiver) { receiver_ = receiver; }
  // Receives the receiver's RTCP.
  PacketSink* rtcp_sink() { return this; }

  DataRate target_rate() const { return target_rate_; }
  int64_t rtcp_packets_lost() const { return rtcp_packets_lost_; }
  int64_t retransmitted_packets_sent() const { return retransmitted_packets_sent_; }

 private:
  // PacketSink, for RTCP.
  bool needs_event() const override { return true; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;

  void OnActivityTimeout();
  void OnSendTimeout();
  void OnControllerTimeout();
  void OnReportTimeout();

  void SetActive(bool active, SimTime now);
  void Send(const MediaPacket& media, SimTime now);
  // The next RTP packet of its stream.
  Packet MakePacket(const MediaPacket& media, SimTime now);
  void OnFeedback(const ReceiverRtcp& message, Timestamp now);
  void OnPacketResults(std::optional<TransportPacketsFeedback> feedback);
  void OnRemb(std::span<const uint8_t> bytes, SimTime now);
  void OnReceiverReport(const ReceiverReport& report, SimTime now);
  void OnNack(const std::vector<int64_t>& sequence_numbers, SimTime now);
  void OnPli(SimTime now);
  void OnSentVideo(const Packet& packet, SimTime now);
  // Applies the controller's update, if one is due, and sets its timer.
  void PollController(SimTime now);
  void SetTargetRate(DataRate target_rate, SimTime now);
  void SetFrameDropRatio(double ratio, SimTime now);
  void FollowRemb(SimTime now);
  // Sets the media's rate to the target less retransmissions and FEC.
  void UpdateMediaRate(SimTime now);
  bool TakesMedia() const { return !elastic_ || pacer_.empty(); }
  // When the pacer may send a packet, or the source has one for it.
  SimTime NextSend(SimTime now) const;
  void SetSendTimer(SimTime now);

  const Flow& flow_;
  const FlowSpec& spec_;
  const SenderClock& clock_;
  const TargetRateConstraints constraints_;
  // The marking of RTP packets.
  const EcnMarking ecn_;
  // Retransmits video and sends key frames when the receiver requests them.
  const bool repaired_;
  // Frame rate of the video that FEC protects under loss; 0 disables FEC.
  const double fec_frames_per_second_;
  const std::unique_ptr<MediaSource> source_;
  // Cached from `source_`.
  const bool elastic_;
  // Null if REMB sets the rate.
  SenderController* const controller_;
  FlowObserver* const observer_;
  PacketSink* receiver_ = nullptr;

  std::array<int64_t, kStreamsPerFlow> next_sequence_numbers_{};
  int64_t next_transport_sequence_number_ = 0;
  int64_t fec_packets_sent_ = 0;
  LossReports loss_reports_;
  Pacer pacer_;
  SentPacketHistory history_;
  int64_t frame_drop_interval_ = 0;
  DataSize congestion_window_ = DataSize::PlusInfinity();
  // Video packets, for retransmission. `history_` has all packets, for the controller.
  RtpPacketHistory video_history_;
  ByteWindow video_sent_;
  ByteWindow repairs_sent_;
  ByteWindow retransmissions_asked_;
  int64_t retransmitted_packets_sent_ = 0;
  SimDuration round_trip_time_ = SimDuration::Zero();
  FecController fec_controller_;
  FecGenerator fec_generator_;
  SimTime last_key_frame_request_;
  // Without a controller: the limit of REMB under loss, and the last REMB.
  std::optional<adapter::SenderLossLimit> loss_limit_;
  std::optional<DataRate> remb_;
  DataRate target_rate_ = DataRate::Zero();
  DataRate media_rate_ = DataRate::Zero();
  int64_t rtcp_packets_lost_ = 0;
  // The receiver's last report: when it was sent, and when it arrived.
  std::optional<std::pair<SimTime, SimTime>> last_receiver_reference_;

  // Times that alternately start and pause sending; those with an even index start it.
  std::vector<SimTime> activity_;
  size_t next_activity_ = 0;
  Timer<RtpSender, &RtpSender::OnActivityTimeout> activity_timer_;
  Timer<RtpSender, &RtpSender::OnSendTimeout> send_timer_;
  Timer<RtpSender, &RtpSender::OnControllerTimeout> controller_timer_;
  Timer<RtpSender, &RtpSender::OnReportTimeout> report_timer_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_RTP_SENDER_H_
