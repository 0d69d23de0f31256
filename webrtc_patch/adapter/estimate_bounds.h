// Bounds that two of libwebrtc's controllers lack inside. Without them their estimates grow until the numbers overflow,
// which aborts the process; nothing else of theirs is changed.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_

#include "api/transport/network_control.h"
#include "modules/congestion_controller/pcc/pcc_network_controller.h"
#include "weir/network_types.h"

namespace weir::adapter {

// In the version of January 2023 the loss-limited estimate of LossBasedBweV2 grows by 2 % every 250 ms while there is
// no loss, and overflows after about seven minutes. This stops it at 1 Tbps, out of reach of any path: the rate that
// the controller gives stays the same to the bit. M150 bounds it itself. To be called with a GoogCcNetworkController
// after every transport feedback.
void StopLossBasedEstimate(webrtc::NetworkControllerInterface& controller);

// PCC takes no notice of constraints: when they hold the flow below what the path carries, its estimate grows without
// end. This keeps the estimate within them. To be called after every transport feedback.
void BoundPccEstimate(webrtc::pcc::PccNetworkController& controller, const TargetRateConstraints& constraints);

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
