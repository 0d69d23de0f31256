// libwebrtc's own congestion control for what this peer sends, as the baseline `gcc`.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_GCC_NETWORK_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_GCC_NETWORK_CONTROLLER_H_

#include <memory>

#include "api/field_trials_view.h"
#include "api/transport/network_control.h"

namespace weir::peer {

// What the controller below needs to be that of browsers of today: LossBasedBweV2.
std::unique_ptr<webrtc::FieldTrialsView> MakeGccFieldTrials();

// GoogCcNetworkController, unchanged but for the bound of its loss-based estimate, which in this version would overflow
// after some minutes without loss.
std::unique_ptr<webrtc::NetworkControllerFactoryInterface> MakeGccNetworkControllerFactory();

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_GCC_NETWORK_CONTROLLER_H_
