// The table of controllers that the simulator runs. A new controller is one row here and one in
// weir_sim/controllers.py.
#ifndef WEIR_SIMULATOR_ENDPOINTS_CONTROLLER_TABLE_H_
#define WEIR_SIMULATOR_ENDPOINTS_CONTROLLER_TABLE_H_

#include <memory>
#include <span>
#include <string_view>

#include "endpoints/controllers.h"
#include "field_trials.h"
#include "weir/controllers.h"
#include "weir/guard.h"
#include "weir/network_controller.h"
#include "weir/sender_controller.h"

namespace weir::sim {

struct SimulatedController {
  // Lower case with hyphens, unique.
  std::string_view name;
  // One line.
  std::string_view summary;
  // Exactly one of `at_receiver` and `at_sender` is set.
  std::unique_ptr<ReceiverController> (*at_receiver)(const ControllerContext& context) = nullptr;
  std::unique_ptr<SenderController> (*at_sender)(const ControllerContext& context, const FieldTrials& trials) = nullptr;
  // Makes the controller that decides in a SendSideEstimator `at_sender`.
  std::unique_ptr<ReceiverController> (*from_feedback)(const ControllerContext& context) = nullptr;
  // The controller may have a new target after any packet.
  bool wake_on_arrival = false;
  // The host of this controller at the sender limits playout. That of one at the receiver always does.
  bool limits_playout = false;
  // The controller runs with the guard's rules.
  bool guard = false;
  // The controller decides from RFC 8888 feedback.
  bool congestion_control_feedback = false;
  // See FlowController.
  bool reports_loss = true;
  // See TakesTransportCc().
  bool transport_cc = true;
  // It has information that no receiver has, so it is an upper bound rather than a competitor.
  bool knows_path = false;
  // The first milestone of libwebrtc that has it.
  int libwebrtc_milestone = 0;
};

// In the order in which `weir-sim --list` prints them.
std::span<const SimulatedController> SimulatedControllers();
// False if the controller needs a later libwebrtc than this program has.
bool IsAvailable(const SimulatedController& controller);

// Makes a controller that runs `model`, with the decision delay of the context.
std::unique_ptr<ReceiverController> MakePolicy(const ControllerContext& context,
                                               std::shared_ptr<const PolicyModel> model);
// Makes Weir at the sender, with `controller` in a SendSideEstimator.
std::unique_ptr<SenderController> MakeWeirAtSender(const ControllerContext& context, bool guard,
                                                   const GuardOptions& guard_rules,
                                                   std::unique_ptr<ReceiverController> controller);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_CONTROLLER_TABLE_H_
