// Weir at the sender as a rate controller of an RTP flow.
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoints/controllers.h"
#include "weir/send_side_estimator.h"
#include "weir/sender_controller.h"

namespace weir::sim {
namespace {

PacketKind KindOf(const SentPacket& packet) {
  if (packet.pacing_info.probe_cluster_id != PacedPacketInfo::kNotAProbe) return PacketKind::kProbe;
  return packet.audio ? PacketKind::kAudio : PacketKind::kVideo;
}

class WeirSendController final : public SenderController {
 public:
  explicit WeirSendController(SendSideEstimator estimator) : estimator_(std::move(estimator)) {}

  std::string_view name() const override { return "weir-send"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { static_cast<void>(estimator_.SetObjective(objective)); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnSentPacket(const SentPacket& packet) override;
  void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) override;
  void OnTransportLossReport(const TransportLossReport&) override {}
  void OnRemoteBitrateReport(const RemoteBitrateReport&) override {}
  bool holds_frames() const override { return true; }

  SenderControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override;

 private:
  bool IsReported() const {
    return estimator_.target_rate().target_rate == reported_ && estimator_.congestion_window() == reported_window_;
  }

  SendSideEstimator estimator_;
  // The last target that the host received; zero before the first.
  DataRate reported_ = DataRate::Zero();
  DataSize reported_window_ = DataSize::PlusInfinity();
  // The packets of one feedback message.
  std::vector<PacketFeedback> reports_;
};

void WeirSendController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  // The host has validated them.
  static_cast<void>(estimator_.SetConstraints(constraints));
}

void WeirSendController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  estimator_.OnRoundTripTime(update.round_trip_time);
}

void WeirSendController::OnSentPacket(const SentPacket& packet) {
  estimator_.OnSentPacket({.send_time = packet.send_time,
                           .sequence_number = packet.sequence_number,
                           .kind = KindOf(packet),
                           .size = packet.size});
}

void WeirSendController::OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) {
  reports_.clear();
  for (const PacketResult& result : feedback.packet_feedbacks) {
    reports_.push_back({.sequence_number = result.sent_packet.sequence_number,
                        .fate = result.receive_time.IsFinite() ? PacketFate::kReceived : PacketFate::kLost,
                        .receive_time = result.receive_time,
                        .ecn = result.ecn});
  }
  estimator_.OnTransportFeedback(reports_, feedback.feedback_time);
}

SenderControlUpdate WeirSendController::OnTimeout(Timestamp now) {
  estimator_.OnTimeout(now);
  SenderControlUpdate update;
  if (const DataSize window = estimator_.congestion_window(); window != reported_window_)
    update.congestion_window = reported_window_ = window;
  if (estimator_.target_rate().target_rate == reported_) return update;
  update.target_rate = estimator_.target_rate();
  update.pacer_config = estimator_.pacer_config();
  reported_ = update.target_rate->target_rate;
  return update;
}

Timestamp WeirSendController::next_timeout() const {
  return IsReported() ? estimator_.next_timeout() : Timestamp::MinusInfinity();
}

}  // namespace

std::unique_ptr<SenderController> MakeWeirSendController(SendSideEstimator estimator) {
  return std::make_unique<WeirSendController>(std::move(estimator));
}

}  // namespace weir::sim
