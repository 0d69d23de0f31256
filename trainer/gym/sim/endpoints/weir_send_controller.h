// Weir at the sender as a rate controller of an RTP flow.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_

#include <memory>
#include <string_view>
#include <vector>

#include "weir/rate_controller.h"
#include "weir/send_side_estimator.h"

namespace weir::sim {

class WeirSendController final : public RateController {
 public:
  // `pilot` is of the receiver's side.
  WeirSendController(const SendSideEstimatorConfig& config, std::unique_ptr<RateController> pilot)
      : estimator_(config, std::move(pilot)) {}

  std::string_view name() const override { return "weir-send"; }
  Side side() const override { return Side::kSender; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override;
  void OnObjective(const Objective& objective) override { estimator_.SetObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnSentPacket(const SentPacket& packet) override;
  void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) override;

  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override;

 private:
  SendSideEstimator estimator_;
  // What the host was told last; zero: nothing yet.
  DataRate told_ = DataRate::Zero();
  // Of one message.
  std::vector<PacketFeedback> reports_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_WEIR_SEND_CONTROLLER_H_
