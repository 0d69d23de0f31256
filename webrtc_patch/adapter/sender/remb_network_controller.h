// A network controller for senders that follow the receiver: the target rate is that of the last REMB, immediately, up
// and down. With it at the sender and Weir at the receiver, neither end runs GCC.
//
//   peer_connection_factory_dependencies.network_controller_factory = MakeRembNetworkControllerFactory();
//
// target = clamp(min(REMB, loss limit, timeout limit), min_data_rate, max_data_rate), where
//   loss limit:    set to target x (1 - loss / 2) at a loss report above 10 % (over at least 20 packets), at most once
//                  per 300 ms + round-trip time; x 1.5 at each report below 2 %, x 1.08 at each one in between; removed
//                  when it reaches REMB. Covers receivers whose estimator ignores loss.
//   timeout limit: halves the target when no feedback (REMB, receiver report, transport feedback) arrives for 3 s while
//                  packets are sent, and again for each further second. Removed by the next feedback.
// Before the first REMB the start rate replaces it. Packets are paced at 1.5 times the target unless the streams
// request another factor, so that a key frame builds no queue, and one by one: GCC's estimator at a receiver mistakes
// bursts for a queue and needs even spacing to find its first rate. There are no probes, because the receiver's
// estimator sets how fast the rate may rise.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REMB_NETWORK_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REMB_NETWORK_CONTROLLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "api/transport/network_control.h"

namespace weir {

// The term of the minimum that set the target.
enum class RembTargetReason : uint8_t { kStart, kRemb, kLoss, kTimeout, kBounds };

// "start", "remb", "loss", "timeout", "bounds".
std::string_view ToString(RembTargetReason reason);

struct RembNetworkControllerOptions {
  // Called on libwebrtc's send task queue whenever the target rate changes; must be quick and must not call libwebrtc.
  std::function<void(webrtc::Timestamp at_time, webrtc::DataRate target_rate, RembTargetReason reason)> on_target_rate;
};

std::unique_ptr<webrtc::NetworkControllerFactoryInterface> MakeRembNetworkControllerFactory(
    RembNetworkControllerOptions options = {});

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REMB_NETWORK_CONTROLLER_H_
