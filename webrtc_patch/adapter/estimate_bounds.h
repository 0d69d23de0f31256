// Bounds for the internal estimates of two libwebrtc controllers. Without them the estimates grow until they overflow,
// which aborts the process. Nothing else in the controllers changes.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_

#include "api/transport/network_control.h"
#include "modules/congestion_controller/pcc/pcc_network_controller.h"
#include "weir/network_types.h"

namespace weir::adapter {

// Caps the loss-limited estimate of LossBasedBweV2 at 1 Tbps. In the version of January 2023 it grows by 2 % every
// 250 ms while there is no loss, and overflows after about seven minutes. No path reaches the cap, so the controller's
// target rate is bit-identical. M150 has its own bound. Call it with a GoogCcNetworkController after every transport
// feedback.
void StopLossBasedEstimate(webrtc::NetworkControllerInterface& controller);

// Keeps PCC's estimate within the constraints. PCC ignores them: while they hold the flow below the available
// bandwidth, its estimate grows without limit. Call it after every transport feedback.
void BoundPccEstimate(webrtc::pcc::PccNetworkController& controller, const TargetRateConstraints& constraints);

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
