#include "policy/model_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/mmsys_features.h"
#include "policy/model_metadata.h"

namespace weir::internal {
namespace {

constexpr int64_t kMaxHistory = 64;
constexpr double kMinRateBps = 1e3;

size_t Find(const std::vector<TensorInfo>& tensors, std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [name](const TensorInfo& t) { return t.name == name; });
  return found == tensors.end() ? ModelLayout::kNone : static_cast<size_t>(found - tensors.begin());
}

std::string Names(const std::vector<TensorInfo>& tensors) {
  std::string names;
  for (const TensorInfo& tensor : tensors) names += (names.empty() ? "'" : ", '") + tensor.name.substr(0, 64) + "'";
  return names.empty() ? "none" : names;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t dimension : shape) {
    if (text.size() > 1) text += ',';
    text += dimension < 0 ? std::string("?") : std::to_string(dimension);
  }
  return text += ']';
}

// Checks tensors of one model; the first failure is kept.
class SignatureChecker {
 public:
  explicit SignatureChecker(const ModelSignature& signature) : signature_(signature) {}

  // The size of the last dimension; the ones before must be 1 or free. 0 when that is not so.
  size_t VectorSize(const TensorInfo& tensor, size_t rank) {
    const std::vector<int64_t>& shape = tensor.shape;
    const bool is_vector = tensor.is_float32 && shape.size() == rank && shape.back() > 0 &&
                           std::all_of(shape.begin(), shape.end() - 1, [](int64_t d) { return d == 1 || d < 0; });
    if (is_vector) return static_cast<size_t>(shape.back());
    const std::string wanted = rank == 2 ? "[1,N]" : "[1,1,N]";
    Fail("its '" + tensor.name + "' is " +
         (tensor.is_float32 ? "float32 " + ShapeText(shape) : "not a float32 tensor") + "; it must be float32 " +
         wanted + " with a fixed N");
    return 0;
  }
  size_t Input(std::string_view name, size_t rank, size_t& index) {
    return Named(signature_.inputs, "input", name, rank, index);
  }
  size_t Output(std::string_view name, size_t rank, size_t& index) {
    return Named(signature_.outputs, "output", name, rank, index);
  }

  void Fail(std::string message) {
    if (!error_) error_ = Error{std::move(message)};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  size_t Named(const std::vector<TensorInfo>& tensors, std::string_view kind, std::string_view name, size_t rank,
               size_t& index) {
    index = Find(tensors, name);
    if (index != ModelLayout::kNone) return VectorSize(tensors[index], rank);
    Fail("it has no " + std::string(kind) + " '" + std::string(name) + "'; its " + std::string(kind) + "s are " +
         Names(tensors));
    return 0;
  }

  const ModelSignature& signature_;
  std::optional<Error> error_;
};

bool LooksLikeMmsys2024(const ModelSignature& signature) {
  return signature.inputs.size() == 3 && Find(signature.inputs, "obs") != ModelLayout::kNone &&
         Find(signature.inputs, "hidden_states") != ModelLayout::kNone &&
         Find(signature.inputs, "cell_states") != ModelLayout::kNone;
}

Result<ModelContract> ReadMmsys2024(const ModelSignature& signature) {
  ModelContract contract;
  ModelDescription& description = contract.description;
  ModelLayout& layout = contract.layout;
  description.format = ModelFormat::kMmsys2024;
  description.name = "mmsys2024";
  description.interval = MmsysFeatures::kShortInterval;
  description.action.kind = ActionKind::kRate;
  description.action.min_rate = DataRate::BitsPerSecondF(kMinRateBps);
  description.action.max_rate = DataRate::BitsPerSecondF(kMaxPolicyRateBps);
  SignatureChecker checker(signature);
  description.observation_size = checker.Input("obs", 3, layout.observation);
  description.action_size = checker.Output("output", 3, layout.action);
  for (const auto& [input, output] : {std::pair("hidden_states", "state_out"), std::pair("cell_states", "cell_out")}) {
    ModelLayout::State& state = layout.states.emplace_back();
    const size_t size = checker.Input(input, 2, state.input);
    if (checker.Output(output, 2, state.output) != size)
      checker.Fail("its '" + std::string(output) + "' does not fit '" + input + "'");
    description.state_size += size;
  }
  if (description.observation_size != MmsysFeatures::kObservationSize)
    checker.Fail("an MMSys 2024 model takes 150 features");
  if (checker.error()) return *checker.error();
  return contract;
}

void ReadFeatures(ModelMetadata& metadata, FeatureSpecification& features) {
  for (const std::string& name : metadata.TextList("features")) {
    const auto field = FindIntervalStatisticsField(name);
    if (!field) {
      metadata.Fail("it wants the feature '" + name.substr(0, 64) +
                    "', which this version of Weir does not have; it has " + IntervalStatisticsFieldNames());
      return;
    }
    const auto same = [&](const IntervalStatisticsField& other) { return other.name == field->name; };
    if (std::any_of(features.fields.begin(), features.fields.end(), same)) {
      metadata.Fail("it lists the feature '" + name + "' twice");
      return;
    }
    features.fields.push_back(*field);
  }
  features.history = static_cast<int>(metadata.Integer("history", 1, kMaxHistory));
}

void ReadAction(ModelMetadata& metadata, ActionMapping& action) {
  const std::string kind = metadata.Text("action_kind");
  const std::optional<ActionKind> parsed = ParseActionKind(kind);
  if (!parsed) {
    metadata.Fail("its metadata 'weir.action_kind' is '" + kind.substr(0, 64) +
                  "'; it must be rate_bps, log_rate, relative or discrete");
    return;
  }
  action.kind = *parsed;
  action.min_rate = DataRate::BitsPerSecondF(metadata.Number("min_bps", kMinRateBps, kMaxPolicyRateBps));
  action.max_rate = DataRate::BitsPerSecondF(metadata.Number("max_bps", kMinRateBps, kMaxPolicyRateBps));
  if (action.min_rate > action.max_rate) metadata.Fail("its metadata 'weir.min_bps' is above 'weir.max_bps'");
  if (action.kind == ActionKind::kRelative) action.alpha = metadata.Number("action_alpha", 1e-4, 10);
  if (action.kind == ActionKind::kDiscrete) {
    for (const double multiplier : metadata.NumberList("action_multipliers", 0.01, 100)) {
      action.multipliers.push_back(static_cast<float>(multiplier));
    }
  }
}

Result<ModelContract> ReadWeir1(const ModelSignature& signature) {
  ModelContract contract;
  ModelDescription& description = contract.description;
  ModelLayout& layout = contract.layout;
  ModelMetadata metadata(signature.model);
  description.name = metadata.OptionalText("name");
  description.version = metadata.OptionalText("version");
  description.provenance = metadata.OptionalText("provenance");
  ReadFeatures(metadata, description.features);
  description.interval =
      TimeDelta::Millis(metadata.Integer("interval_ms", kMinDecisionInterval.ms(), kMaxDecisionInterval.ms()));
  ReadAction(metadata, description.action);
  contract.golden = metadata.Text("golden");
  if (metadata.error()) return *metadata.error();

  SignatureChecker checker(signature);
  description.observation_size = checker.Input("observation", 2, layout.observation);
  if (description.observation_size != description.features.size()) {
    checker.Fail("its 'observation' has " + std::to_string(description.observation_size) +
                 " elements, but its metadata lists " + std::to_string(description.features.fields.size()) +
                 " features with a history of " + std::to_string(description.features.history));
  }
  description.action_size = checker.Output("action", 2, layout.action);
  const size_t choices = description.action.multipliers.size();
  if (description.action_size != 1 && description.action_size != choices) {
    checker.Fail("its 'action' has " + std::to_string(description.action_size) + " elements; a " +
                 std::string(ToString(description.action.kind)) + " action has 1" +
                 (choices > 0 ? ", or a score for each of its " + std::to_string(choices) + " multipliers" : ""));
  }
  size_t known_inputs = 1, known_outputs = 1;
  description.takes_objective = Find(signature.inputs, "objective") != ModelLayout::kNone;
  if (description.takes_objective) {
    ++known_inputs;
    if (checker.Input("objective", 2, layout.objective) != 3) checker.Fail("its 'objective' must have 3 elements");
  }
  if (Find(signature.inputs, "state") != ModelLayout::kNone) {
    ++known_inputs;
    ++known_outputs;
    ModelLayout::State& state = layout.states.emplace_back();
    description.state_size = checker.Input("state", 2, state.input);
    if (checker.Output("next_state", 2, state.output) != description.state_size) {
      checker.Fail("its 'next_state' does not have the size of 'state'");
    }
  }
  if (signature.inputs.size() != known_inputs) {
    checker.Fail("its inputs are " + Names(signature.inputs) + "; allowed are 'observation', 'objective' and 'state'");
  }
  if (signature.outputs.size() != known_outputs) {
    checker.Fail("its outputs are " + Names(signature.outputs) +
                 "; allowed are 'action' and, with a state, 'next_state'");
  }
  if (checker.error()) return *checker.error();
  return contract;
}

}  // namespace

Result<ModelContract> ReadModelContract(const ModelSignature& signature) {
  if (LooksLikeMmsys2024(signature)) return ReadMmsys2024(signature);
  const std::optional<std::string_view> schema = signature.model.Metadata("weir.schema");
  if (!schema) {
    return Error{"it was not exported for Weir: its metadata has no 'weir.schema', and with the inputs " +
                 Names(signature.inputs) + " it is no MMSys 2024 model either"};
  }
  if (*schema != "1") {
    return Error{"its metadata 'weir.schema' is '" + std::string(schema->substr(0, 64)) +
                 "'; this version of Weir reads schema 1"};
  }
  return ReadWeir1(signature);
}

}  // namespace weir::internal
