// The receiver controllers of the library by name, and the policy models that some of them run.
#ifndef WEIR_CONTROLLERS_H_
#define WEIR_CONTROLLERS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weir/network_controller.h"
#include "weir/registry.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

struct ModelDescription;

namespace internal {
struct LoadedModel;
}

// A policy model in ONNX form. The policy is untrusted: it is loaded from bytes and checked against its contract once;
// any number of controllers share it. Only loading reads the steady clock, to measure decisions.
//
// The contract (schema 1): inputs `observation` [1,D], optional `objective` [1,3], optional `state` [1,S]; outputs
// `action` [1,A], with a state `next_state` [1,S], and optional `path_kind` [1,1], the kind of path from 1 to 255; all
// float32. D is as FeatureSpecification says. Metadata, all strings: weir.schema, weir.features, weir.history,
// weir.interval_ms, weir.action_kind, weir.action_alpha (relative), weir.action_multipliers (discrete), weir.min_bps,
// weir.max_bps, weir.golden, and optionally weir.ranges (low and high of each feature in training), weir.name,
// weir.version, weir.provenance.
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
  // True where ONNX Runtime computes it; Weir itself computes the models that `weir export` writes.
  bool needs_onnxruntime() const;

 private:
  friend class Policy;
  explicit PolicyModel(std::unique_ptr<const internal::LoadedModel> loaded);

  const std::unique_ptr<const internal::LoadedModel> loaded_;
};

// The version of the ONNX Runtime library in use, such as "1.31.1"; empty when there is none.
const char* OnnxRuntimeVersion();

// Null for a name that is not in `kBuiltInControllers`. `fixed_rate` is the rate of "fixed".
std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

// A controller that runs a policy model.
std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model);

// True for "weir" and "weir:NAME", which are policy models.
bool IsModelName(std::string_view controller);

// The policy model after "weir:"; `name` is empty for plain "weir".
using ModelSource = std::function<Result<std::shared_ptr<const PolicyModel>>(const std::string& name)>;

// A controller that needs nothing but the library: "weir", "weir:NAME", or a name of `kBuiltInControllers`.
Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_H_
