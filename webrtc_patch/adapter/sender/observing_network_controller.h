// Runs Weir beside another network controller at the sender. While the other one is in charge, Weir only computes:
// rates, pacing and probes are the other's, as without Weir. Both receive all messages, so either may be put in charge
// during a call.
//
//   std::atomic<bool> weir_in_charge = IsInShare(connection, 0.05);
//   dependencies.network_controller_factory = std::move(MakeObservingNetworkControllerFactory(
//       {.weir = {.controller = std::move(policy.value())},
//        .is_weir_in_charge = [&] { return weir_in_charge.load(); },
//        .on_observation = [&](const Observation& observation) { file << ObservationLine(observation, "gcc") << '\n';
//        }})
//       .value());
//
// A change of is_weir_in_charge takes effect with the next message to the controllers, within 25 ms: the rates in force
// become the latest ones of the controller that is in charge from then on.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVING_NETWORK_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVING_NETWORK_CONTROLLER_H_

#include <functional>
#include <memory>

#include "api/transport/network_control.h"
#include "sender/observation.h"
#include "sender/weir_network_controller.h"

namespace weir {

struct ObservingNetworkControllerOptions {
  WeirNetworkControllerOptions weir;
  // Null: libwebrtc's default, GoogCC.
  std::shared_ptr<webrtc::NetworkControllerFactoryInterface> other = nullptr;
  // Called for each message; must be quick. Null: never.
  std::function<bool()> is_weir_in_charge = nullptr;
  // Called on libwebrtc's send task queue each second in which packets were sent; must be quick and must not call
  // libwebrtc. Null: none.
  std::function<void(const Observation&)> on_observation = nullptr;
};

// Returns an error if the objective is not valid.
Result<std::unique_ptr<webrtc::NetworkControllerFactoryInterface>> MakeObservingNetworkControllerFactory(
    ObservingNetworkControllerOptions options);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVING_NETWORK_CONTROLLER_H_
