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
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

class Policy;
class PolicyExecutor;
struct ModelDescription;
namespace internal {
struct LoadedModel;
}

// A policy model in ONNX form, which any number of controllers share. The policy is untrusted: it is checked against
// the contract `weir.schema` 1 (docs/design.md) when it is loaded. Only loading reads the steady clock.
class PolicyModel {
 public:
  static constexpr size_t kMaxSize = size_t{16} << 20;
  // The shipped model takes less than a thousandth of this.
  static constexpr TimeDelta kMaxDecisionTime = TimeDelta::Millis(10);

  // Checks the structure and the metadata, then runs the model on probe observations and on its golden vectors. A
  // decision on this machine must not take longer than `time_limit`, nor than a tenth of the model's interval. The
  // error is one sentence for the user.
  static Result<std::shared_ptr<const PolicyModel>> Load(std::span<const std::byte> bytes,
                                                         TimeDelta time_limit = kMaxDecisionTime);
  ~PolicyModel();

  // True where ONNX Runtime computes it; Weir itself computes the models that `weir export` writes.
  bool needs_onnxruntime() const;

 private:
  friend class Policy;
  friend const ModelDescription& DescriptionOf(const PolicyModel& model);
  explicit PolicyModel(std::unique_ptr<const internal::LoadedModel> loaded);

  const std::unique_ptr<const internal::LoadedModel> loaded_;
};

// The version of the ONNX Runtime library in use, such as "1.31.1"; empty when there is none.
const char* OnnxRuntimeVersion();

// The controllers "nada", "rule" and "fixed", which needs `fixed_rate`; null for any other name.
std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

// Makes what computes the decisions of one call; an empty one computes them on the caller's thread.
using PolicyExecutorFactory = std::function<std::unique_ptr<PolicyExecutor>(std::unique_ptr<Policy>)>;
// A thread for all that the process makes, which starts with the first: packets never wait for a model. Throws
// std::system_error when there is no thread.
PolicyExecutorFactory ProcessWorker();

// A controller that runs a policy model. The rate in force stays until the answer is there; an answer after more than
// the model's interval is a fault.
std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model,
                                                         const PolicyExecutorFactory& make_executor = nullptr);

// True for "weir" and "weir:NAME", which are policy models.
bool IsModelName(std::string_view controller);

// The policy model after "weir:"; `name` is empty for plain "weir".
using ModelSource = std::function<Result<std::shared_ptr<const PolicyModel>>(const std::string& name)>;

// A controller that needs nothing but the library: "weir", "weir:NAME", or a built-in one.
Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate,
                                                           const PolicyExecutorFactory& make_executor = nullptr);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_H_
