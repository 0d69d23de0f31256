#include <memory>

#include "estimate_bounds.h"
#include "modules/congestion_controller/pcc/pcc_factory.h"
#include "modules/congestion_controller/pcc/pcc_network_controller.h"
#include "rate_controllers.h"
#include "send_side_controller.h"

namespace weir {
namespace {

void AfterFeedback(webrtc::NetworkControllerInterface& controller, const TargetRateConstraints& constraints) {
  adapter::BoundPccEstimate(static_cast<webrtc::pcc::PccNetworkController&>(controller), constraints);
}

}  // namespace

std::unique_ptr<SenderController> MakePccController() {
  return std::make_unique<adapter::SendSideController>("pcc", std::make_unique<webrtc::PccNetworkControllerFactory>(),
                                                       nullptr, AfterFeedback);
}

}  // namespace weir
