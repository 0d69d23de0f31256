// The rate controllers that a flow can have, by name.
#ifndef WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_
#define WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "endpoints/agent.h"
#include "endpoints/oracle.h"
#include "endpoints/simulation_job.h"
#include "registry.h"
#include "sender/sender_controller.h"
#include "weir/bandwidth_estimator.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/send_side_estimator.h"

namespace weir::sim {

// The name for an agent outside this process; a scenario cannot ask for it.
inline constexpr std::string_view kAgentName = "agent";

// The inputs of a controller's factory besides its name.
struct ControllerContext {
  const SimulationJob& job;
  // The flow is one "under_test".
  bool under_test = false;
  // Rates at the sender count IP packets; rates at the receiver do with transport-cc, else RTP packets.
  TargetRateConstraints receiver_constraints;
  TargetRateConstraints sender_constraints;
  Objective objective;
  // The sender of a receiver's controller has a GCC.
  bool transport_cc = true;
  // For the constant rate.
  DataRate fixed_rate = DataRate::Zero();
  OracleConfig oracle;
  // Draws the time that the policy takes for a decision; null: none.
  std::function<TimeDelta()> decision_delay = nullptr;

  // A custom controller or policy in place of the named one; null: none.
  const CustomControllerSpecification* custom() const { return under_test ? job.custom : nullptr; }
  const CustomPolicy* custom_policy() const { return under_test && job.custom_policy ? &*job.custom_policy : nullptr; }
};

// One of the two is there, or both: with transport-cc, the sender of a receiver's controller has a GCC, and takes the
// smaller rate.
struct FlowController {
  std::unique_ptr<BandwidthEstimator> at_receiver;
  std::unique_ptr<SenderController> at_sender;
  // `at_receiver` may have something to say after any packet.
  bool wake_on_arrival = false;
  // `at_sender` receives RFC 8888 feedback in place of transport-wide feedback.
  bool congestion_control_feedback = false;
  // It reports the loss ratio to a sender of libwebrtc, which then sends FEC.
  bool reports_loss = true;
  // The controller of whichever is there, when it is the agent.
  PolicyController* agent = nullptr;
};

// Throws ProgramError for a name that is neither in `kSimulatedControllers` nor a pool specification, for field trials
// after it that libwebrtc would not take, and where it is not available.
void CheckControllerName(std::string_view name);
// False for one whose receiver takes no packets with transport-wide sequence numbers.
bool TakesTransportCc(std::string_view name);
// False where it needs a later libwebrtc than this program has.
bool IsAvailable(const RegisteredController& controller);

// `name` may be a pool specification (pool/pool_specification.h), of members that decide at the receiver; "weir:FILE"
// is a policy of its own. Baselines are measured as they are: of all receiver-side controllers only the policy, and a
// pool with one, has the guard's rules on. Throws ProgramError for an unknown name, and for a model or a custom
// controller that cannot be used. A custom controller that fails later throws from within the simulation.
FlowController MakeFlowController(std::string_view name, const ControllerContext& context);

// A controller that decides from arrivals, for a host that has an estimator of its own: at the receiver or, where the
// name is one of Weir at the sender, in a SendSideEstimator. Null where libwebrtc's own controller decides at the
// sender. Throws ProgramError as MakeFlowController() does, and where neither can be.
std::unique_ptr<ReceiverController> MakeArrivalController(std::string_view name, const ControllerContext& context);
// True for what has the guard's rules on; the rules of an agent are those for training.
bool IsGuarded(std::string_view name, const ControllerContext& context);

// A SendSideEstimator as the controller of a flow.
std::unique_ptr<SenderController> MakeWeirSendController(SendSideEstimator estimator);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_CONTROLLERS_H_
