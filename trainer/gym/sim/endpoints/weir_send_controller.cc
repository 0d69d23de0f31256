#include "endpoints/weir_send_controller.h"

namespace weir::sim {
namespace {

PacketKind KindOf(const SentPacket& packet) {
  if (packet.pacing_info.probe_cluster_id != PacedPacketInfo::kNotAProbe) return PacketKind::kProbe;
  return packet.audio ? PacketKind::kAudio : PacketKind::kVideo;
}

}  // namespace

void WeirSendController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  // The host has validated them.
  static_cast<void>(estimator_.SetConstraints(constraints));
}

void WeirSendController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  estimator_.OnRoundTripTime(update.round_trip_time);
}

void WeirSendController::OnSentPacket(const SentPacket& packet) {
  estimator_.OnSentPacket({.send_time = packet.send_time,
                           .sequence_number = static_cast<uint16_t>(packet.sequence_number),
                           .kind = KindOf(packet),
                           .size = packet.size});
}

void WeirSendController::OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) {
  reports_.clear();
  for (const PacketResult& result : feedback.packet_feedbacks) {
    reports_.push_back({.sequence_number = static_cast<uint16_t>(result.sent_packet.sequence_number),
                        .fate = result.receive_time.IsFinite() ? PacketFate::kReceived : PacketFate::kLost,
                        .receive_time = result.receive_time});
  }
  estimator_.OnTransportFeedback(reports_, feedback.feedback_time);
}

NetworkControlUpdate WeirSendController::OnTimeout(Timestamp now) {
  estimator_.OnTimeout(now);
  NetworkControlUpdate update;
  if (estimator_.target_rate().target_rate == told_) return update;
  update.target_rate = estimator_.target_rate();
  update.pacer_config = estimator_.pacer_config();
  told_ = update.target_rate->target_rate;
  return update;
}

Timestamp WeirSendController::next_timeout() const {
  return estimator_.target_rate().target_rate == told_ ? estimator_.next_timeout() : Timestamp::MinusInfinity();
}

}  // namespace weir::sim
