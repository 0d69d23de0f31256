// A policy model in ONNX form: a guest in this process. It is loaded from bytes, checked against its contract before
// its first decision, and runs on the caller's thread without a thread, a file or a clock of its own; only loading
// reads the steady clock, to measure decisions.
//
// The contract (schema 1): inputs `observation` [1,D], optional `objective` [1,3], optional `state` [1,S]; outputs
// `action` [1,A] and, with a state, `next_state` [1,S]; all float32. D is as FeatureSpecification
// says. Metadata, all strings: weir.schema, weir.features, weir.history, weir.interval_ms, weir.action_kind,
// weir.action_alpha (relative), weir.action_multipliers (discrete), weir.min_bps, weir.max_bps, weir.golden, and
// optionally weir.name, weir.version, weir.provenance.
#ifndef WEIR_POLICY_POLICY_H_
#define WEIR_POLICY_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weir/objective.h"
#include "weir/policy/model_description.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

enum class PolicyFault : uint8_t {
  kNone,
  kBadObservation,   // an element was not finite
  kRuntimeError,     // ONNX Runtime reported an error
  kNonFiniteOutput,  // the action or the recurrent state was not finite
};

class Policy {
 public:
  static constexpr size_t kMaxModelSize = size_t{16} << 20;

  // The host's thread waits for a decision; those of the shipped model take a thousandth of this.
  static constexpr TimeDelta kMaxDecisionTime = TimeDelta::Millis(10);

  // Checks size, wire format, operators, the size of all tensors, signature and metadata, then runs the model on zeros,
  // on saturated and random observations and on its golden vectors. A decision must not take longer than `time_limit`
  // on this machine. The error is one sentence for the user. `model` need not outlive the call.
  static Result<std::unique_ptr<Policy>> Load(std::span<const std::byte> model,
                                              TimeDelta time_limit = kMaxDecisionTime);
  ~Policy();

  const ModelDescription& description() const;

  // `observation` has observation_size elements and `action` action_size. After a fault `action` is unchanged and the
  // recurrent state is reset.
  PolicyFault Run(std::span<const float> observation, const Objective& objective, std::span<float> action);
  // Recurrent state to zeros, as at the start of a call.
  void ResetState();

 private:
  struct Implementation;
  explicit Policy(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

// The version of the ONNX Runtime library in use, such as "1.31.1".
const char* OnnxRuntimeVersion();

}  // namespace weir

#endif  // WEIR_POLICY_POLICY_H_
