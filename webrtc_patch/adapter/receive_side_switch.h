// The switch between GCC and Weir on the receiver's side of libwebrtc: a factory of remote bitrate estimators that a
// patched libwebrtc asks (see ../patches), and the settings of all estimators that it made. This header needs nothing
// of libwebrtc; link `weir_webrtc_receive_side`.
//
//   auto receive_side = ReceiveSideSwitch::Create({.controller = ..., .on_decision = ...}).value();
//   receive_side->Install();                             // before the PeerConnectionFactory makes its first call
//   receive_side->SetObjective(kLatency);                // at any time, from any thread, while calls run
//   receive_side->SetMode(ReceiveSideMode::kShadow);
//
// How the modes reach the sender. A sender whose peer negotiated transport-cc runs a congestion controller of its own
// and takes the smaller of that and REMB. In charge is the estimator that the sender follows:
//   kWeir   wants an answer with goog-remb and abs-send-time. With transport-cc, RemoteEstimate keeps delay from
//           lowering the rate of the sender's GCC: Weir is in charge, and GCC's pacing, window, feedback timeout and
//           limit under loss are in force. Without transport-cc the sender has none of them, and obeys REMB alone.
//   kGcc    with transport-cc, libwebrtc's receiver only reports arrivals and the sender's GCC is in charge, exactly
//           as without this switch. Without transport-cc, libwebrtc's own receiver-side estimator is, by REMB.
//   kShadow is kGcc, and Weir sees the same packets, also those with transport sequence numbers, decides, is logged,
//           and sends nothing.
// In kWeir, offers and answers have the bitrates, and answers the DTLS role, that docs/remb.md wants.
// Without packets Weir still sends REMB: at once when a call begins, and every 200 ms until its first packet, for at
// most 10 s. After the first packet, also in a blackout: every second and at every decrease.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SWITCH_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SWITCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/guard.h"
#include "weir/interval_statistics.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"

namespace webrtc {
class RemoteBitrateEstimatorFactory;
}
namespace weir::adapter {
class SharedReceiveSideSettings;
}

namespace weir {

enum class ReceiveSideMode : uint8_t { kGcc, kWeir, kShadow };

// By their names in calls (registry.h); nothing for any other.
std::string_view ToString(ReceiveSideMode mode);
std::optional<ReceiveSideMode> ParseReceiveSideMode(std::string_view name);

class PoolController;

// Makes the controller that decides in one call.
using ControllerFactory = std::function<std::unique_ptr<ReceiverController>()>;

// A controller with the learned policy in `model` (ONNX bytes, copied). The error, one sentence for the user, when the
// model is not acceptable; the host then goes on with `RuleAlone()` or ends.
Result<ControllerFactory> PolicyAlone(std::span<const std::byte> model,
                                      const PolicyExecutorFactory& make_executor = nullptr);
ControllerFactory RuleAlone();
// Several controllers as one (docs/pools.md): `models` are the bytes behind "weir" ("") and "weir:NAME" (NAME). Members
// are those of MakeController() and "gcc-remb". Each model is loaded once, for all calls. `make_executor`, on any
// thread: such as ProcessWorker(), so that packets never wait for a model. The error names the member that is missing.
Result<ControllerFactory> PoolOf(std::string_view specification,
                                 const std::map<std::string, std::vector<std::byte>>& models,
                                 const PolicyExecutorFactory& make_executor = nullptr);

// One decision of Weir, in force from `estimate.at_time` on.
struct ReceiveSideDecision {
  // `at_time` is of libwebrtc's clock: on Linux, CLOCK_MONOTONIC in microseconds.
  Estimate estimate;
  // The name of the active controller ("weir", "rule"), or "fallback" while it is suspended.
  std::string controller;
  // Valid only during the call; null without a pool.
  const PoolController* pool = nullptr;
  // True in mode kWeir: the estimate is sent as REMB. False in mode kShadow.
  bool in_charge = false;
  // In force at the decision.
  Objective objective;
  TargetRateConstraints constraints;
  // Covers the time since the previous decision.
  IntervalStatistics statistics;
  // Since this estimator began; `counters.guard` counts the interventions of each rule of the guard.
  EstimatorCounters counters;
};

struct ReceiveSideSwitchConfig {
  ReceiveSideMode mode = ReceiveSideMode::kWeir;
  // The sender's own GCC, where the answer has transport-cc, may set a rate below Weir's.
  bool sender_decides_too = false;
  // In mode kWeir, offers and answers that libwebrtc makes say what docs/remb.md wants. False: the host changes them.
  bool changes_sdp = true;
  // Null: RuleAlone().
  ControllerFactory controller;
  Objective objective;
  TargetRateConstraints constraints;
  // See BandwidthEstimatorConfig.
  bool guard = true;
  GuardOptions guard_rules = {};
  // Called in modes kWeir and kShadow on libwebrtc's worker thread, with locks of libwebrtc held: it must be quick, and
  // must call neither libwebrtc nor this switch. It must work until the last call has ended, also when the switch is
  // gone.
  std::function<void(const ReceiveSideDecision&)> on_decision;
};

// Thread-safe: every method may be called from any thread while calls run. What is set takes effect with the next
// packet or timer tick of each call, which is at most 100 ms later.
class ReceiveSideSwitch {
 public:
  // The error when objective or constraints are not valid.
  static Result<std::shared_ptr<ReceiveSideSwitch>> Create(ReceiveSideSwitchConfig config);

  // Makes libwebrtc ask this switch for every estimator of calls that begin from now on, in the whole process; replaces
  // what was installed before. libwebrtc keeps a reference until another one is installed, or Uninstall().
  void Install();
  // Calls that begin from now on are libwebrtc's own again. Those that run keep their estimator.
  static void Uninstall();

  // To kWeir or kShadow from kGcc: Weir begins at what GCC last announced, if anything, else at the start rate. From
  // kShadow to kWeir it goes on from where it is. To kGcc with transport-cc: REMB and RemoteEstimate are lifted, and
  // the sender's GCC goes on from its own rate. Without: libwebrtc's estimator begins anew; the REMB in force stays
  // until it sends one.
  void SetMode(ReceiveSideMode mode);
  ReceiveSideMode mode() const;

  // On an error nothing changes.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  // For all calls; in one that runs the new controller goes on from the rate in force.
  void SetController(ControllerFactory controller);
  // Other roles, fusion and policy for the members of a pool, in all calls. A pool that lacks a member stays as it is.
  // The error when it is no specification.
  [[nodiscard]] std::optional<Error> ConfigurePool(std::string_view specification);
  // Kind of the packets of a negotiated payload type (0 to 127; others are ignored). By default every packet with a
  // payload is video, and padding is a probe.
  void SetPacketKind(int payload_type, PacketKind kind);
  // Repeats the REMB in force with the next tick (mode kWeir). Call it once when the transport becomes writable:
  // earlier REMBs are lost, and the sender starts with the first one that arrives. libwebrtc drops a repeated REMB
  // within 200 ms, so this one is 4 % lower.
  void RepeatRemb();

 private:
  explicit ReceiveSideSwitch(ReceiveSideSwitchConfig config);

  const std::shared_ptr<adapter::SharedReceiveSideSettings> settings_;
  const std::shared_ptr<webrtc::RemoteBitrateEstimatorFactory> factory_;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SWITCH_H_
