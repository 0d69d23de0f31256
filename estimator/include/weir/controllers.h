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
// the contract `weir.schema` 1 (docs/design.md) when it is loaded. Only Load() reads the steady clock.
class PolicyModel {
 public:
  static constexpr size_t kMaxSize = size_t{16} << 20;
  // The shipped model takes less than a thousandth of it.
  static constexpr TimeDelta kMaxDecisionTime = TimeDelta::Millis(10);

  // Checks the structure and the metadata, then runs the model on probe observations and on its golden vectors. Refuses
  // a model whose decision takes longer than `time_limit`, or than a tenth of its interval, on this machine. The error
  // is one sentence for the user.
  static Result<std::shared_ptr<const PolicyModel>> Load(std::span<const std::byte> bytes,
                                                         TimeDelta time_limit = kMaxDecisionTime);
  ~PolicyModel();

  // True if ONNX Runtime computes the model. Weir itself computes the dense networks of `weir export`.
  bool needs_onnxruntime() const;

 private:
  friend class Policy;
  friend const ModelDescription& DescriptionOf(const PolicyModel& model);
  explicit PolicyModel(std::unique_ptr<const internal::LoadedModel> loaded);

  const std::unique_ptr<const internal::LoadedModel> loaded_;
};

// The version of the ONNX Runtime library in use, such as "1.31.1", or empty if there is none.
const char* OnnxRuntimeVersion();

// Makes the controller "nada", "rule" or "fixed"; the last needs `fixed_rate`. Null for any other name.
std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

// Makes the executor that computes the decisions of one call. An empty factory stands for the caller's thread.
using PolicyExecutorFactory = std::function<std::unique_ptr<PolicyExecutor>(std::unique_ptr<Policy>)>;
// A factory whose executors share one thread of the process, so that packets never wait for a model. The thread starts
// with the first executor. Throws std::system_error if it cannot start.
PolicyExecutorFactory ProcessWorker();

// Makes a controller that runs a policy model. The rate in force stays until a decision arrives. A decision that takes
// longer than the model's interval is a fault.
std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model,
                                                         const PolicyExecutorFactory& make_executor = nullptr);

// True for "weir" and "weir:NAME", which name policy models.
bool IsModelName(std::string_view controller);

// The name of the policy model after "weir:"; empty for plain "weir".
using ModelSource = std::function<Result<std::shared_ptr<const PolicyModel>>(const std::string& name)>;

// Makes a controller that needs only the library: "weir", "weir:NAME", or a built-in one.
Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate,
                                                           const PolicyExecutorFactory& make_executor = nullptr);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_H_
