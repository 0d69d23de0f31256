// Weir at the sender as a rate controller of an RTP flow.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_

#include <memory>
#include <string_view>
#include <vector>

#include "weir/network_controller.h"
#include "weir/send_side_estimator.h"

namespace weir::sim {

class WeirSendController final : public SenderController {
 public:
  WeirSendController(const SendSideEstimatorConfig& config, std::unique_ptr<ReceiverController> controller)
      : estimator_(config, std::move(controller)) {}

  std::string_view name() const override { return "weir-send"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { estimator_.SetObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnSentPacket(const SentPacket& packet) override;
  void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) override;
  void OnTransportLossReport(const TransportLossReport&) override {}
  void OnRemoteBitrateReport(const RemoteBitrateReport&) override {}

  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override;

 private:
  SendSideEstimator estimator_;
  // What the host was told last; zero: nothing yet.
  DataRate told_ = DataRate::Zero();
  // In one message.
  std::vector<PacketFeedback> reports_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_
