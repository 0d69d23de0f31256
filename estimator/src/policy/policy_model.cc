#include "weir/policy/policy_model.h"

#include <map>
#include <string>
#include <utility>

#include "loaded_model.h"
#include "network.h"
#include "onnx_graph.h"
#include "onnx_inspection.h"
#include "onnx_session.h"

namespace weir {
namespace {

using internal::LoadedModel;

Error NotLoaded(const std::string& why) { return Error{"the model cannot be used: " + why}; }

// An evaluator of our own where it knows everything in the model, else ONNX Runtime.
std::optional<Error> MakeEvaluator(std::span<const std::byte> bytes, LoadedModel& model) {
  std::string unknown = "structure";
  if (const auto graph = internal::ReadOnnxGraph(bytes)) {
    Result<internal::NetworkPlan> plan = internal::PlanNetwork(*graph);
    if (plan) {
      model.evaluator = std::make_unique<internal::Network>(std::move(plan.value()));
      return std::nullopt;
    }
    unknown = plan.error();
  }
  model.needs_onnxruntime = true;
  auto evaluator = internal::LoadInOnnxRuntime(bytes);
  if (evaluator) {
    model.evaluator = std::move(evaluator.value());
    return std::nullopt;
  }
  if (*OnnxRuntimeVersion() != '\0') return Error{evaluator.error()};
  return Error{"Weir by itself does not know its " + unknown + ", and " + evaluator.error()};
}

}  // namespace

PolicyModel::PolicyModel(std::unique_ptr<const LoadedModel> loaded) : loaded_(std::move(loaded)) {}
PolicyModel::~PolicyModel() = default;

Result<std::shared_ptr<const PolicyModel>> PolicyModel::Load(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxSize) {
    return NotLoaded("it has " + std::to_string(bytes.size()) + " bytes, at most " + std::to_string(kMaxSize) +
                     " are allowed");
  }
  if (const auto objection = internal::FindOnnxObjection(bytes)) return NotLoaded(*objection);
  auto model = std::make_unique<LoadedModel>();
  if (const auto error = MakeEvaluator(bytes, *model)) return NotLoaded(error->message);
  const std::map<std::string, std::string> metadata = internal::ReadOnnxMetadata(bytes);
  auto contract = internal::ReadModelContract({model->evaluator->inputs(), model->evaluator->outputs(), metadata});
  if (!contract) return NotLoaded(contract.error());
  model->contract = std::move(contract.value());
  if (const auto error = internal::CheckLoadedModel(*model)) return NotLoaded(error->message);
  return std::shared_ptr<const PolicyModel>(new PolicyModel(std::move(model)));
}

const ModelDescription& PolicyModel::description() const { return loaded_->contract.description; }

bool PolicyModel::needs_onnxruntime() const { return loaded_->needs_onnxruntime; }

const char* OnnxRuntimeVersion() { return internal::OnnxRuntimeVersion(); }

}  // namespace weir
