// A policy model in ONNX form. The policy is untrusted: it is loaded from bytes and checked against its contract once;
// any number of controllers share it. Only loading reads the steady clock, to measure decisions.
//
// The contract (schema 1): inputs `observation` [1,D], optional `objective` [1,3], optional `state` [1,S]; outputs
// `action` [1,A], with a state `next_state` [1,S], and optional `path_kind` [1,1], see Policy::path_kind(); all
// float32. D is as FeatureSpecification says. Metadata, all strings: weir.schema, weir.features, weir.history,
// weir.interval_ms, weir.action_kind, weir.action_alpha (relative), weir.action_multipliers (discrete), weir.min_bps,
// weir.max_bps, weir.golden, and optionally weir.ranges (low and high of each feature in training), weir.name,
// weir.version, weir.provenance.
#ifndef WEIR_POLICY_MODEL_H_
#define WEIR_POLICY_MODEL_H_

#include <cstddef>
#include <memory>
#include <span>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

struct ModelDescription;

namespace internal {
struct LoadedModel;
}

class PolicyModel {
 public:
  static constexpr size_t kMaxSize = size_t{16} << 20;

  // The host's thread waits for a decision; those of the shipped model take a thousandth of this.
  static constexpr TimeDelta kMaxDecisionTime = TimeDelta::Millis(10);

  // Checks size, wire format, operators, the size of all tensors, signature and metadata, then runs the model on zeros,
  // on saturated and random observations and on its golden vectors. A decision must not take longer than `time_limit`
  // on this machine. The error is one sentence for the user. `bytes` need not outlive the call.
  static Result<std::shared_ptr<const PolicyModel>> Load(std::span<const std::byte> bytes,
                                                         TimeDelta time_limit = kMaxDecisionTime);
  ~PolicyModel();

  const ModelDescription& description() const;
  // Whether ONNX Runtime computes it. Weir computes by itself what `weir export` writes.
  bool needs_onnxruntime() const;

 private:
  friend class Policy;
  explicit PolicyModel(std::unique_ptr<const internal::LoadedModel> loaded);

  const std::unique_ptr<const internal::LoadedModel> loaded_;
};

// The version of the ONNX Runtime library in use, such as "1.31.1"; empty when there is none.
const char* OnnxRuntimeVersion();

}  // namespace weir

#endif  // WEIR_POLICY_MODEL_H_
