// Bounds that two of libwebrtc's controllers lack inside, in the version of January 2023. Without them their estimates
// grow until the numbers overflow, which aborts the process; nothing else of theirs is changed.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_

#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"
#include "modules/congestion_controller/pcc/pcc_network_controller.h"
#include "weir/network_types.h"

namespace weir::adapter {

// The loss-limited estimate of LossBasedBweV2 grows by 2 % every 250 ms while there is no loss, and overflows after
// about seven minutes. This stops it at 1 Tbps, out of reach of any path: the rate that the controller gives stays the
// same to the bit. To be called after every transport feedback.
void StopLossBasedEstimate(webrtc::GoogCcNetworkController& controller);

// PCC takes no notice of constraints: when they hold the flow below what the path carries, its estimate grows without
// end. This keeps the estimate within them. To be called after every transport feedback.
void BoundPccEstimate(webrtc::pcc::PccNetworkController& controller, const TargetRateConstraints& constraints);

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_ESTIMATE_BOUNDS_H_
