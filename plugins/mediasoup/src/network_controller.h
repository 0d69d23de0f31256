// Weir behind the interface of mediasoup's send-side controller.
#ifndef WEIR_PLUGINS_MEDIASOUP_NETWORK_CONTROLLER_H_
#define WEIR_PLUGINS_MEDIASOUP_NETWORK_CONTROLLER_H_

#include <libwebrtc/api/transport/network_control.h>

#include <string>

#include "RTC/BweType.hpp"

namespace weir::mediasoup {

// Returns a factory that runs Weir beside the controllers of `other`, which it owns. Both receive all messages. Returns
// `other` itself if Weir is off, or if the peer sends REMB instead of transport-wide feedback.
webrtc::NetworkControllerFactoryInterface* InsteadOf(webrtc::NetworkControllerFactoryInterface* other,
                                                     RTC::BweType bwe_type, const std::string& connection);

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_NETWORK_CONTROLLER_H_
