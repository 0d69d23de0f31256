// Makes the rate controllers of flows, by name.
#ifndef WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_
#define WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "endpoints/agent.h"
#include "endpoints/oracle.h"
#include "endpoints/simulation_job.h"
#include "media/playout_limits.h"
#include "weir/bandwidth_estimator.h"
#include "weir/model_description.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/send_side_estimator.h"
#include "weir/sender_controller.h"

namespace weir::sim {

// The name of an agent in another process. Scenarios cannot request it.
inline constexpr std::string_view kAgentName = "agent";

// The inputs of a controller's factory other than its name.
struct ControllerContext {
  const SimulationJob& job;
  // The flow is "under_test".
  bool under_test = false;
  // Rates at the sender count IP packets. Rates at the receiver count IP packets with transport-cc, else RTP packets.
  TargetRateConstraints receiver_constraints;
  TargetRateConstraints sender_constraints;
  Objective objective;
  // The sender of a receiver's controller runs GCC.
  bool transport_cc = true;
  // The target of the constant-rate controller.
  DataRate fixed_rate = DataRate::Zero();
  OracleConfig oracle;
  // Draws the delay of each decision of the policy; null means no delay.
  std::function<TimeDelta()> decision_delay = nullptr;

  // A custom controller or policy in place of the named one; null if there is none.
  const CustomControllerSpecification* custom() const { return under_test ? job.custom : nullptr; }
  const CustomPolicy* custom_policy() const { return under_test && job.custom_policy ? &*job.custom_policy : nullptr; }
};

// `at_receiver`, `at_sender` or both are set: with transport-cc, the sender of a receiver's controller runs GCC and
// uses the smaller rate.
struct FlowController {
  std::unique_ptr<BandwidthEstimator> at_receiver;
  std::unique_ptr<SenderController> at_sender;
  // `at_receiver` may have a new target after any packet.
  bool wake_on_arrival = false;
  // `at_sender` receives RFC 8888 feedback in place of transport-wide feedback.
  bool congestion_control_feedback = false;
  // The controller reports the loss ratio to libwebrtc's sender, which then sends FEC.
  bool reports_loss = true;
  // Where Weir decides at one end, it limits playout, too.
  PlayoutLimits playout;
  // The agent's controller, which `at_receiver` or `at_sender` owns; null for all others.
  PolicyController* agent = nullptr;
};

// Throws ProgramError for a name that is neither in the table (controller_table.h) nor a pool specification, for field
// trials that libwebrtc rejects, and for an unavailable controller.
void CheckControllerName(std::string_view name);
// False if the controller's receiver accepts no packets with transport-wide sequence numbers.
bool TakesTransportCc(std::string_view name);

// `name` may be a pool specification (weir/pool_specification.h) whose members decide at the receiver; a member
// "weir:FILE" is the policy in that file. Baselines run unmodified: of all receiver-side controllers only a policy, and
// a pool with one, runs with the guard's rules. Throws ProgramError for an unknown name and for an unusable model or
// custom controller. A custom controller that fails later throws from within the simulation.
FlowController MakeFlowController(std::string_view name, const ControllerContext& context);

// Makes a controller that decides from arrivals, for a host with its own estimator: at the receiver, or in a
// SendSideEstimator if the name is one of Weir's at the sender. Null for all other controllers at the sender. Throws
// ProgramError as MakeFlowController() does.
std::unique_ptr<ReceiverController> MakeArrivalController(std::string_view name, const ControllerContext& context);
// Throws ProgramError for a policy with a feature that the sender does not fill (kSentPacketFeatures).
void CheckFeaturesAtSender(const FeatureSpecification& features);
// True if the controller runs with the guard's rules. An agent's rules are those for training.
bool IsGuarded(std::string_view name, const ControllerContext& context);

// Wraps a SendSideEstimator as the controller of a flow.
std::unique_ptr<SenderController> MakeWeirSendController(SendSideEstimator estimator);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_
