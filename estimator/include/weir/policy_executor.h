// Executors of policies: a PolicyController submits an observation and takes the answer later. A host implements one to
// decide with something other than a model in its process, such as an agent in training.
#ifndef WEIR_POLICY_EXECUTOR_H_
#define WEIR_POLICY_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "weir/controllers.h"
#include "weir/model_description.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

// Reason for which a policy has no action. Every reason but kNone is a fault of the controller: the rate in force
// stays, and after SupervisedController::kFaultsToFallback in a row the fallback decides.
enum class PolicyFault : uint8_t {
  kNone,
  kBadObservation,   // an element was not finite
  kRuntimeError,     // the model could not be computed: ONNX Runtime reported an error
  kNonFiniteOutput,  // the action or the recurrent state was not finite
};

struct PolicyAnswer {
  PolicyFault fault = PolicyFault::kNone;
  // One element, or as many as ModelDescription::action allows (ActionMapping::Apply). If empty, the rate in force
  // stays. Meaningless after a fault. Valid until the next call of Submit().
  std::span<const float> action;
};

// Decides for one call, one decision at a time. The caller, a PolicyController, never calls concurrently. Submit() may
// compute the decision itself; otherwise no method waits for it. None throws.
//
//   every interval          Submit(observation), except between frames, in gaps that the sender made
//   then, until it answers  Take(), at once and at next_timeout()
class PolicyExecutor {
 public:
  static constexpr TimeDelta kPollInterval = TimeDelta::Millis(10);

  virtual ~PolicyExecutor() = default;

  // Called at construction of the controller and at any time later. Returns the same description each time.
  virtual const ModelDescription& description() const = 0;
  // Called at the end of each decision interval, at `now`, with the observation of the last intervals, of
  // description().observation_size finite elements and valid during the call, and with the objective in force. Starts a
  // decision, and drops one that is pending.
  virtual void Submit(std::span<const float> observation, const Objective& objective, Timestamp now) = 0;
  // Called after Submit(), and again at next_timeout(), at most until the interval after Submit() has passed. Returns
  // the answer once, and nothing while the decision is pending. An answer that is older than one interval, or missing
  // by then, is a fault.
  virtual std::optional<PolicyAnswer> Take(Timestamp now) = 0;
  // Called after Take() returned nothing at `now`. Returns the time of the next call of Take(), after `now`.
  virtual Timestamp next_timeout(Timestamp now) const { return now + kPollInterval; }
  // Called after a pause of the host of many intervals. Drops a pending decision and sets the recurrent state to zeros,
  // as at the start of a call.
  virtual void Reset() = 0;
};

// Computes the decisions of `model` in Submit(), on the caller's thread, so that each answer is available at once. For
// a host that wraps a model in an executor of its own.
std::unique_ptr<PolicyExecutor> MakeInlineExecutor(std::shared_ptr<const PolicyModel> model);

// Answers with the decisions of `executor`, which must not be null, each after a delay that `delay` draws at Submit():
// a finite time of at least zero. For simulation, training and tests.
std::unique_ptr<PolicyExecutor> MakeDelayedExecutor(std::unique_ptr<PolicyExecutor> executor,
                                                    std::function<TimeDelta()> delay);

// Makes executors of models that compute on the caller's thread and answer after a delay, as above. Returns an empty
// factory, without a delay, if `delay` is null.
PolicyExecutorFactory MakeDelayedInline(std::function<TimeDelta()> delay);

}  // namespace weir

#endif  // WEIR_POLICY_EXECUTOR_H_
