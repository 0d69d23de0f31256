// The rate controller of a virtual call.
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_CONTROLLER_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_CONTROLLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "endpoints/controllers.h"
#include "endpoints/flow.h"
#include "options.h"
#include "virtual_call/virtual_clock.h"
#include "weir/controllers.h"

namespace weir::sim {

enum class CallEnd : uint8_t { kSender, kReceiver };

// Determines where a flow's controller decides, selects it in the options of both peers, and makes its instances.
class CallController {
 public:
  enum class Place : uint8_t {
    // A controller of libwebrtc decides, at the sender.
    kLibwebrtc,
    // A SendSideEstimator decides, from transport feedback.
    kSender,
    // A BandwidthEstimator decides, and the sender follows REMB.
    kReceiver
  };

  // Both arguments must outlive this object. Throws ProgramError for a controller that a call cannot run, and for what
  // would make it fail in the call.
  CallController(const Flow& flow, VirtualClock* clock);
  ~CallController();

  Place place() const { return place_; }
  // A sender limits playout by the header extension if it decides, as before an unmodified receiver. Else a receiver
  // limits its own.
  bool SenderLimitsPlayout(CallMedia::Playout playout) const {
    return place_ == Place::kSender && playout != CallMedia::Playout::kUnlimited;
  }
  bool ReceiverLimitsPlayout(CallMedia::Playout playout) const {
    return playout == CallMedia::Playout::kLimited
               ? place_ != Place::kSender
               : playout == CallMedia::Playout::kAdaptive && place_ == Place::kReceiver;
  }
  // True for an agent in another process.
  bool is_agent() const { return agent_specification_.has_value(); }
  // Null without an agent.
  PolicyController* agent() const { return agent_; }

  // Selects the controller in the options of the peer at `end`.
  void Select(CallEnd end, peer::Options& options) const;
  // Makes the controller of the estimator at `end`; null if none decides there.
  ControllerFactory FactoryAt(CallEnd end);
  // The guard of the estimator at the receiver.
  bool is_guarded() const { return IsGuarded(flow_.controller, context_); }
  GuardOptions guard_rules() const { return is_agent() ? GuardOptions::ForTraining() : flow_.job.guard_rules; }

 private:
  class StartedSource;
  struct AtSender;

  static const AtSender* FindAtSender(const Flow& flow, const ControllerContext& context);
  bool IsPool() const;
  std::unique_ptr<PolicyController> MakeAgent();
  std::unique_ptr<ReceiverController> Make();

  const Flow& flow_;
  VirtualClock* const clock_;
  const ControllerContext context_;
  // The row of a controller that decides at the sender; null for all others.
  const AtSender* const at_sender_;
  const Place place_;
  std::unique_ptr<StartedSource> agent_source_;
  std::optional<AgentSpecification> agent_specification_;
  // Holds the agent's controller until a peer needs it: at a sender, only when the call has connected.
  std::unique_ptr<PolicyController> waiting_agent_;
  PolicyController* agent_ = nullptr;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_CONTROLLER_H_
