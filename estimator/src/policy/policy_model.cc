#include <algorithm>
#include <string>
#include <utility>

#include "onnx/model_session.h"
#include "onnx/onnx_inspection.h"
#include "onnx/onnx_model.h"
#include "policy/model_checks.h"
#include "policy/policy.h"

namespace weir {
namespace {

using internal::LoadedModel;
using internal::OnnxModel;

// Longest decision, as a share of the model's interval.
constexpr double kMaxCoreShare = 0.1;

// `why` may contain parts of the file.
Error NotLoaded(std::string why) {
  std::ranges::replace_if(why, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return Error{"the model cannot be used: " + why};
}

// Makes Weir's evaluator for a dense network, and ONNX Runtime's for any other model.
std::optional<Error> MakeEvaluator(std::span<const std::byte> bytes, const OnnxModel& onnx, LoadedModel& model) {
  auto dense = internal::MakeDenseNetwork(onnx);
  if (dense) {
    model.evaluator = std::move(dense.value());
    return std::nullopt;
  }
  model.needs_onnxruntime = true;
  auto evaluator = internal::LoadInOnnxRuntime(bytes, onnx);
  if (evaluator) {
    model.evaluator = std::move(evaluator.value());
    return std::nullopt;
  }
  if (*OnnxRuntimeVersion() != '\0') return Error{evaluator.error()};
  return Error{"it needs ONNX Runtime for its " + dense.error() + ", and " + evaluator.error()};
}

}  // namespace

PolicyModel::PolicyModel(std::unique_ptr<const LoadedModel> loaded) : loaded_(std::move(loaded)) {}
PolicyModel::~PolicyModel() = default;

Result<std::shared_ptr<const PolicyModel>> PolicyModel::Load(std::span<const std::byte> bytes, TimeDelta time_limit) {
  if (bytes.size() > kMaxSize) {
    return NotLoaded("it has " + std::to_string(bytes.size()) + " bytes, at most " + std::to_string(kMaxSize) +
                     " are allowed");
  }
  Result<OnnxModel> onnx = internal::ParseOnnxModel(bytes);
  if (!onnx) return NotLoaded(onnx.error());
  if (const auto objection = internal::FindOnnxObjection(onnx.value())) return NotLoaded(*objection);
  auto model = std::make_unique<LoadedModel>();
  auto contract = internal::ReadModelContract(onnx.value());
  if (!contract) return NotLoaded(contract.error());
  model->contract = std::move(contract.value());
  if (const auto error = MakeEvaluator(bytes, onnx.value(), *model)) return NotLoaded(error->message);
  std::shared_ptr<const PolicyModel> loaded(new PolicyModel(std::move(model)));
  Policy policy(loaded);
  const TimeDelta limit = std::min(time_limit, DescriptionOf(*loaded).interval * kMaxCoreShare);
  if (const auto error = internal::CheckPolicy(policy, loaded->loaded_->contract.golden, limit))
    return NotLoaded(error->message);
  return loaded;
}

const ModelDescription& DescriptionOf(const PolicyModel& model) { return model.loaded_->contract.description; }

bool PolicyModel::needs_onnxruntime() const { return loaded_->needs_onnxruntime; }

}  // namespace weir
