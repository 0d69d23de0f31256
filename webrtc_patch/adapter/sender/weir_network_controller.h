// Runs Weir at the sender behind libwebrtc's interface: a SendSideEstimator decides from transport-wide feedback alone,
// so it works with unmodified browsers as receivers. See docs/send_side.md.
//
//   auto policy = PolicyAlone(model, nullptr, kSentPacketFeatures);
//   dependencies.network_controller_factory =         // PeerConnectionFactoryDependencies
//       std::move(MakeWeirNetworkControllerFactory({.controller = std::move(policy.value())}).value());
//
// target = the estimator's rate, whose upper bound is the smaller of max_data_rate and the latest REMB. If the peer did
// not negotiate transport-cc, libwebrtc reports no packets, and the target is REMB, or the start rate before the first
// REMB. RTCP loss reports are ignored: transport feedback has reported the same losses before.
//
// The target is at most twice the streams' desired rate; the congestion window is the estimator's. While the window has
// been full for long (PacerBacklog), the announced target is zero: libwebrtc then encodes no video frame, retransmits
// little, and keeps audio. Packets are paced at 2.5 times the target, whatever factor the streams request (libwebrtc's
// video: 1.1, with which frames wait for seconds when the target drops), in bursts of 5 ms; probes at the start, and no
// padding beyond the streams' requests. If the peer answers with RFC 8888, packets are sent as ECT(1) (RFC 9331); once
// one has arrived so, in bursts of 1 ms at 1.5 times the target. A route change starts a new estimator at the start
// rate; a network that becomes available again, one at the rate in force.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_WEIR_NETWORK_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_WEIR_NETWORK_CONTROLLER_H_

#include <functional>
#include <memory>

#include "api/transport/network_control.h"
#include "receive_side_switch.h"
#include "sender/return_path.h"
#include "weir/bandwidth_estimator.h"
#include "weir/objective.h"

namespace weir {

struct WeirNetworkControllerOptions {
  // Null: RuleAlone().
  ControllerFactory controller;
  Objective objective;
  // Called on libwebrtc's send task queue whenever the target rate changes; must be quick and must not call libwebrtc.
  // `at_time` is on libwebrtc's clock: on Linux, CLOCK_MONOTONIC in microseconds.
  std::function<void(const Estimate&)> on_target_rate;
  // Called with each OnProcessInterval(), likewise, after its decisions.
  std::function<void(const BandwidthEstimator&)> on_process_interval = nullptr;
  // Follows transport feedback, for MakeRepairFecControllerFactory(); null: none. For one call.
  std::shared_ptr<ReturnPath> return_path = nullptr;
};

// Returns an error if the objective is not valid.
Result<std::unique_ptr<webrtc::NetworkControllerFactoryInterface>> MakeWeirNetworkControllerFactory(
    WeirNetworkControllerOptions options);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_WEIR_NETWORK_CONTROLLER_H_
