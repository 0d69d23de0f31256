// Switches between GCC and Weir at libwebrtc's receiver: a factory of remote bitrate estimators for a patched libwebrtc
// (see ../patches), and the settings of all estimators that it created. This header does not include libwebrtc; link
// `weir_webrtc_receive_side`.
//
//   auto receive_side = ReceiveSideSwitch::Create({.controller = ..., .on_decision = ...}).value();
//   receive_side->Install();                             // before the PeerConnectionFactory makes its first call
//   receive_side->SetObjective(kLatency);                // at any time, from any thread, while calls run
//   receive_side->SetMode(ReceiveSideMode::kShadow);
//
// How each mode controls the sender. A sender that negotiated transport-cc runs its own congestion controller and uses
// the smaller of its rate and REMB. Therefore:
//   kWeir   requires an answer with goog-remb and abs-send-time. With transport-cc, RemoteEstimate keeps delay from
//           lowering the rate of the sender's GCC: REMB decides, and GCC's pacing, window, feedback timeout and loss
//           limit stay in force. Without transport-cc the sender has none of them and follows REMB alone.
//   kGcc    with transport-cc, libwebrtc's receiver only reports arrivals and the sender's GCC decides, exactly as
//           without this switch. Without transport-cc, libwebrtc's own receiver-side estimator decides through REMB.
//   kShadow is kGcc, while Weir processes the same packets, also those with transport sequence numbers, and reports its
//           decisions, but sends nothing.
// In kWeir, offers and answers carry the bitrates, and answers the DTLS role, that docs/remb.md requires.
// Weir sends REMB without packets, too: at once when a call begins, and every 200 ms until its first packet, for at
// most 10 s. After the first packet, even in a blackout: every second and at every decrease.
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

#include "weir/arrival.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/feature_set.h"
#include "weir/guard.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/repair_policy.h"
#include "weir/result.h"
#include "weir/units.h"

namespace webrtc {
class RemoteBitrateEstimatorFactory;
}
namespace weir::adapter {
class SharedReceiveSideSettings;
}

namespace weir {

enum class ReceiveSideMode : uint8_t { kGcc, kWeir, kShadow };

// Convert modes to and from their names: "gcc", "weir", "shadow".
std::string_view ToString(ReceiveSideMode mode);
std::optional<ReceiveSideMode> ParseReceiveSideMode(std::string_view name);

class PoolController;

// Makes the controller that decides in one call.
using ControllerFactory = std::function<std::unique_ptr<ReceiverController>()>;

// Makes controllers with the learned policy in `model` (ONNX bytes, copied). Returns an error, one sentence for the
// user, if the model is not acceptable, or needs a feature that is not in `features`: at the sender, those are
// kSentPacketFeatures. The host then continues with `RuleAlone()` or exits.
Result<ControllerFactory> PolicyAlone(std::span<const std::byte> model,
                                      const PolicyExecutorFactory& make_executor = nullptr,
                                      const FeatureSet& features = {});
ControllerFactory RuleAlone();
// Combines several controllers (docs/pools.md): `models` maps "" to the model of "weir", and NAME to that of
// "weir:NAME". Members are those of MakeController() and "gcc-remb". Each model is loaded once, for all calls.
// `make_executor` is called on any thread; with ProcessWorker(), packets never wait for a model. The error names the
// missing member.
Result<ControllerFactory> PoolOf(std::string_view specification,
                                 const std::map<std::string, std::vector<std::byte>>& models,
                                 const PolicyExecutorFactory& make_executor = nullptr);

// One decision of Weir, in force from `estimate.at_time` on.
struct ReceiveSideDecision {
  // `at_time` is on libwebrtc's clock: on Linux, CLOCK_MONOTONIC in microseconds.
  Estimate estimate;
  // The name of the active controller ("weir", "rule"), or "fallback" while it is suspended.
  std::string controller;
  // Valid only during the callback; null without a pool.
  const PoolController* pool = nullptr;
  // True in mode kWeir: the estimate is sent as REMB. False in mode kShadow.
  bool in_charge = false;
  // How the sender should repair losses of video. For kFec, the session description is to have red and ulpfec, for
  // kNack not. Needs the kinds of packets (SetPacketKind).
  Repair repair = Repair::kNone;
  // Settings in force at the decision.
  Objective objective;
  TargetRateConstraints constraints;
  // The time since the previous decision, zero for the first; the arrivals in it, and the target then in force.
  TimeDelta interval = TimeDelta::Zero();
  ArrivalTotals arrivals = {};
  DataRate previous_target_rate = DataRate::Zero();
  // Counts since this estimator started; `counters.guard` has the interventions of each rule of the guard.
  EstimatorCounters counters;
};

struct ReceiveSideSwitchConfig {
  ReceiveSideMode mode = ReceiveSideMode::kWeir;
  // If true and the answer has transport-cc, the sender's own GCC may set a rate below Weir's.
  bool sender_decides_too = false;
  // In mode kWeir, libwebrtc's offers and answers carry what docs/remb.md requires. False: the host changes them.
  bool changes_sdp = true;
  // Null: RuleAlone().
  ControllerFactory controller;
  Objective objective;
  TargetRateConstraints constraints;
  // See BandwidthEstimatorConfig.
  bool guard = true;
  GuardOptions guard_rules = {};
  // Called in modes kWeir and kShadow on libwebrtc's worker thread, with locks of libwebrtc held: it must be quick, and
  // must call neither libwebrtc nor this switch. It must stay valid until the last call has ended, even after the
  // switch is destroyed.
  std::function<void(const ReceiveSideDecision&)> on_decision;
};

// Selects and configures the estimators of calls. Thread-safe: every method may be called from any thread while calls
// run. Changes take effect with the next packet or timer tick of each call, at most 100 ms later.
class ReceiveSideSwitch {
 public:
  // Returns an error if the objective or the constraints are not valid.
  static Result<std::shared_ptr<ReceiveSideSwitch>> Create(ReceiveSideSwitchConfig config);

  // Makes this switch the source of estimators for all calls in the process that begin from now on; replaces the switch
  // installed before. libwebrtc keeps a reference until another switch is installed, or Uninstall().
  void Install();
  // Calls that begin from now on use libwebrtc's own estimators again. Running calls keep theirs.
  static void Uninstall();

  // From kGcc to kWeir or kShadow: Weir starts at the last estimate of libwebrtc's receiver, if any, else at the start
  // rate. From kShadow to kWeir: it continues. To kGcc with transport-cc: REMB and RemoteEstimate are lifted, and the
  // sender's GCC continues from its own rate. Without: libwebrtc's estimator starts anew; the last REMB stays in force
  // until it sends one.
  void SetMode(ReceiveSideMode mode);
  ReceiveSideMode mode() const;

  // On an error nothing changes.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  // Applies to all calls; in a running call the new controller continues from the rate in force.
  void SetController(ControllerFactory controller);
  // Changes roles, fusion and policy of the members of a pool, in all calls. A pool that lacks a member stays as it is.
  // Returns an error if `specification` is malformed.
  [[nodiscard]] std::optional<Error> ConfigurePool(std::string_view specification);
  // Sets the kind of packets of a negotiated payload type (0 to 127; others are ignored). By default every packet with
  // a payload is video, and padding is a probe.
  void SetPacketKind(int payload_type, PacketKind kind);
  // Repeats the REMB in force with the next tick (mode kWeir). Call it once when the transport becomes writable:
  // earlier REMBs are lost, and the sender starts with the first one that arrives. libwebrtc drops a repeated REMB
  // within 200 ms, so there this one is 4 % lower.
  void RepeatRemb();

 private:
  explicit ReceiveSideSwitch(ReceiveSideSwitchConfig config);

  const std::shared_ptr<adapter::SharedReceiveSideSettings> settings_;
  const std::shared_ptr<webrtc::RemoteBitrateEstimatorFactory> factory_;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SWITCH_H_
