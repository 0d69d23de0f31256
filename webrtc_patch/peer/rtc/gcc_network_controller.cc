#include "rtc/gcc_network_controller.h"

#include <utility>

#include "estimate_bounds.h"
#include "field_trials.h"
#include "loss_based_bwe_v2.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"

namespace weir::peer {
namespace {

constexpr webrtc::TimeDelta kProcessInterval = webrtc::TimeDelta::Millis(25);

class BoundedGcc final : public webrtc::GoogCcNetworkController {
 public:
  explicit BoundedGcc(webrtc::NetworkControllerConfig config)
      : webrtc::GoogCcNetworkController(std::move(config), webrtc::GoogCcConfig()) {}

  webrtc::NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback feedback) override {
    webrtc::NetworkControlUpdate update = GoogCcNetworkController::OnTransportPacketsFeedback(feedback);
    adapter::StopLossBasedEstimate(*this);
    return update;
  }
};

class BoundedGccFactory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  std::unique_ptr<webrtc::NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<BoundedGcc>(std::move(config));
  }
  webrtc::TimeDelta GetProcessInterval() const override { return kProcessInterval; }
};

}  // namespace

std::unique_ptr<webrtc::FieldTrialsView> MakeGccFieldTrials() {
  return std::make_unique<adapter::SingleFieldTrial>(adapter::kLossBasedBweV2Trial, adapter::kLossBasedBweV2Parameters);
}

std::unique_ptr<webrtc::NetworkControllerFactoryInterface> MakeGccNetworkControllerFactory() {
  return std::make_unique<BoundedGccFactory>();
}

}  // namespace weir::peer
