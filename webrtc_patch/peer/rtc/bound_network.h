// The one network that ICE may use: that of a given address. No other interface is looked at or told of.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_BOUND_NETWORK_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_BOUND_NETWORK_H_

#include <memory>

#include "rtc_base/ip_address.h"
#include "rtc_base/network.h"

namespace weir::peer {

std::unique_ptr<rtc::NetworkManager> MakeBoundNetwork(const rtc::IPAddress& address);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_BOUND_NETWORK_H_
