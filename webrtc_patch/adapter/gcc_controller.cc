#include <memory>

#include "api/transport/goog_cc_factory.h"
#include "estimate_bounds.h"
#include "field_trials.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"
#include "rate_controllers.h"
#include "send_side_controller.h"

namespace weir {
namespace {

// LossBasedBweV2 is off by default in the libwebrtc of January 2023 and on in Chromium since; these are the values of
// Chromium 150 as far as this version knows the parameter.
constexpr char kLossBasedBweV2Trial[] = "WebRTC-Bwe-LossBasedBweV2";
constexpr char kLossBasedBweV2Parameters[] =
    "Enabled:true,BwRampupUpperBoundFactor:1.5,CandidateFactors:1.02|1.0|0.95,HigherBwBiasFactor:0.0002,"
    "HigherLogBwBiasFactor:0.02,LossThresholdOfHighBandwidthPreference:0.2,InherentLossUpperBoundBwBalance:100kbps,"
    "NewtonStepSize:0.75,DelayBasedCandidate:true,ObservationDurationLowerBound:250ms,ObservationWindowSize:15,"
    "InstantUpperBoundTemporalWeightFactor:0.9,InstantUpperBoundBwBalance:100kbps,TemporalWeightFactor:0.9,"
    "MaxIncreaseFactor:1.3,NotIncreaseIfInherentLossLessThanAverageLoss:true";

void AfterFeedback(webrtc::NetworkControllerInterface& controller, const TargetRateConstraints&) {
  adapter::StopLossBasedEstimate(static_cast<webrtc::GoogCcNetworkController&>(controller));
}

}  // namespace

std::unique_ptr<RateController> MakeGccController() {
  return std::make_unique<adapter::SendSideController>(
      "gcc", std::make_unique<webrtc::GoogCcNetworkControllerFactory>(),
      std::make_unique<adapter::SingleFieldTrial>(kLossBasedBweV2Trial, kLossBasedBweV2Parameters), AfterFeedback);
}

}  // namespace weir
