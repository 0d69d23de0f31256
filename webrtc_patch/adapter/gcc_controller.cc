#include <memory>

#include "api/transport/goog_cc_factory.h"
#include "estimate_bounds.h"
#include "libwebrtc_globals.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"
#include "rate_controllers.h"
#include "send_side_controller.h"

namespace weir {
namespace {

void AfterFeedback(webrtc::NetworkControllerInterface& controller, const TargetRateConstraints&) {
  adapter::StopLossBasedEstimate(static_cast<webrtc::GoogCcNetworkController&>(controller));
}

}  // namespace

std::unique_ptr<SenderController> MakeGccController() {
  return std::make_unique<adapter::SendSideController>(
      "gcc", std::make_unique<webrtc::GoogCcNetworkControllerFactory>(),
      std::make_unique<adapter::SingleFieldTrial>(adapter::kLossBasedBweV2Trial, adapter::kLossBasedBweV2Parameters),
      AfterFeedback);
}

}  // namespace weir
