#include "policy/model_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/mmsys_features.h"
#include "policy/parse_double.h"
#include "weir/names.h"

namespace weir::internal {
namespace {

constexpr double kMinRateBps = 1e3;

size_t Find(const std::vector<OnnxValueInfo>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &OnnxValueInfo::name);
  return found == tensors.end() ? ModelLayout::kNone : static_cast<size_t>(found - tensors.begin());
}

std::string Names(const std::vector<OnnxValueInfo>& tensors) {
  std::string names;
  for (const OnnxValueInfo& tensor : tensors) {
    names.append(names.empty() ? "'" : ", '").append(tensor.name.substr(0, 64)).append("'");
  }
  return names.empty() ? "none" : names;
}

std::string ShapeText(const OnnxShape& shape) {
  std::string text = "[";
  for (const int64_t dimension : shape) {
    if (text.size() > 1) text += ',';
    text += dimension < 0 ? std::string("?") : std::to_string(dimension);
  }
  return text += ']';
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string Shown(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

// Reads the tensors and the `weir.*` keys of a model. Keeps the message of the first failure; values read after it are
// placeholders.
class ContractReader {
 public:
  explicit ContractReader(const OnnxModel& model) : model_(model) {}

  void Fail(std::string message) {
    if (!error_) error_ = Error{std::move(message)};
  }
  const std::optional<Error>& error() const { return error_; }

  // Returns the size of the last dimension of an input or output. Fails and returns 0 unless the other dimensions are 1
  // or free.
  size_t Input(std::string_view name, size_t rank, size_t& index) {
    return VectorSize(model_.inputs, "input", name, rank, index);
  }
  size_t Output(std::string_view name, size_t rank, size_t& index) {
    return VectorSize(model_.outputs, "output", name, rank, index);
  }

  // `key` is without the prefix "weir.".
  std::string OptionalText(std::string_view key) const {
    return std::string(model_.Metadata(Key(key)).value_or(std::string_view()));
  }
  std::string Text(std::string_view key) {
    if (!model_.Metadata(Key(key))) Fail("its metadata has no '" + Key(key) + "'; export it again with `weir export`");
    return OptionalText(key);
  }
  double Number(std::string_view key, double min, double max) {
    const std::string text = Text(key);
    return error_ ? min : ParseNumber(key, text, min, max);
  }
  int64_t Integer(std::string_view key, int64_t min, int64_t max) {
    const double value = Number(key, static_cast<double>(min), static_cast<double>(max));
    if (value != std::floor(value))
      Fail("its metadata '" + Key(key) + "' is " + Shown(value) + "; it must be a whole number");
    return static_cast<int64_t>(value);
  }
  std::vector<std::string> TextList(std::string_view key) {
    const std::string text = Text(key);
    std::vector<std::string> list;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      list.emplace_back(Trimmed(std::string_view(text).substr(begin, end - begin)));
      begin = end + 1;
    }
    return list;
  }
  std::vector<double> NumberList(std::string_view key, double min, double max) {
    std::vector<double> numbers;
    const std::vector<std::string> texts = TextList(key);
    if (error_) return numbers;
    for (const std::string& text : texts) numbers.push_back(ParseNumber(key, text, min, max));
    return numbers;
  }

 private:
  static std::string Key(std::string_view key) { return "weir." + std::string(key); }

  size_t VectorSize(const std::vector<OnnxValueInfo>& tensors, const std::string& kind, std::string_view name,
                    size_t rank, size_t& index) {
    const std::string shown = Quoted(name);
    index = Find(tensors, name);
    if (index == ModelLayout::kNone) {
      Fail("it has no " + kind + " " + shown + "; its " + kind + "s are " + Names(tensors));
      return 0;
    }
    const OnnxShape shape = tensors[index].shape.value_or(OnnxShape());
    const bool is_vector = shape.size() == rank && shape.back() > 0 &&
                           std::all_of(shape.begin(), shape.end() - 1, [](int64_t d) { return d == 1 || d < 0; });
    if (is_vector) return static_cast<size_t>(shape.back());
    Fail("its " + shown + " is float32 " + ShapeText(shape) + "; it must be float32 " +
         (rank == 2 ? "[1,N]" : "[1,1,N]") + " with a fixed N");
    return 0;
  }

  double ParseNumber(std::string_view key, std::string_view text, double min, double max) {
    double value = 0;
    text = Trimmed(text);
    const auto [end, status] = ParseDouble(text.data(), text.data() + text.size(), value);
    const bool valid = status == std::errc() && end == text.data() + text.size() && value >= min && value <= max;
    if (valid) return value;
    Fail("its metadata '" + Key(key) + "' is '" + std::string(text.substr(0, 64)) + "'; it must be a number from " +
         Shown(min) + " to " + Shown(max));
    return min;
  }

  const OnnxModel& model_;
  std::optional<Error> error_;
};

bool LooksLikeMmsys2024(const OnnxModel& model) {
  return model.inputs.size() == 3 && Find(model.inputs, "obs") != ModelLayout::kNone &&
         Find(model.inputs, "hidden_states") != ModelLayout::kNone &&
         Find(model.inputs, "cell_states") != ModelLayout::kNone;
}

Result<ModelContract> ReadMmsys2024(const OnnxModel& model) {
  ModelContract contract;
  ModelDescription& description = contract.description;
  ModelLayout& layout = contract.layout;
  description.format = ModelFormat::kMmsys2024;
  description.name = "mmsys2024";
  description.interval = MmsysFeatures::kShortInterval;
  description.action.kind = ActionKind::kRate;
  description.action.min_rate = DataRate::BitsPerSecondF(kMinRateBps);
  description.action.max_rate = DataRate::BitsPerSecondF(kMaxPolicyRateBps);
  ContractReader reader(model);
  description.observation_size = reader.Input("obs", 3, layout.observation);
  description.action_size = reader.Output("output", 3, layout.action);
  for (const auto& [input, output] : {std::pair("hidden_states", "state_out"), std::pair("cell_states", "cell_out")}) {
    ModelLayout::State& state = layout.states.emplace_back();
    const size_t size = reader.Input(input, 2, state.input);
    if (reader.Output(output, 2, state.output) != size)
      reader.Fail("its '" + std::string(output) + "' does not fit '" + input + "'");
    description.state_size += size;
  }
  if (description.observation_size != MmsysFeatures::kObservationSize)
    reader.Fail("an MMSys 2024 model takes 150 features");
  if (reader.error()) return *reader.error();
  return contract;
}

void ReadFeatures(ContractReader& reader, FeatureSpecification& features) {
  for (const std::string& name : reader.TextList("features")) {
    const auto field = FindIntervalStatisticsField(name);
    if (!field) {
      reader.Fail("it wants the feature '" + name.substr(0, 64) +
                  "', which this version of Weir does not have; it has " + IntervalStatisticsFieldNames());
      return;
    }
    if (FindRow(features.fields, field->name)) {
      reader.Fail("it lists the feature '" + name + "' twice");
      return;
    }
    features.fields.push_back(*field);
  }
  features.history = static_cast<int>(reader.Integer("history", 1, kMaxHistory));
}

void ReadAction(ContractReader& reader, ActionMapping& action) {
  const std::string kind = reader.Text("action_kind");
  const std::optional<ActionKind> parsed = ParseActionKind(kind);
  if (!parsed) {
    reader.Fail("its metadata 'weir.action_kind' is '" + kind.substr(0, 64) +
                "'; it must be rate_bps, log_rate, relative or discrete");
    return;
  }
  action.kind = *parsed;
  action.min_rate = DataRate::BitsPerSecondF(reader.Number("min_bps", kMinRateBps, kMaxPolicyRateBps));
  action.max_rate = DataRate::BitsPerSecondF(reader.Number("max_bps", kMinRateBps, kMaxPolicyRateBps));
  if (action.min_rate > action.max_rate) reader.Fail("its metadata 'weir.min_bps' is above 'weir.max_bps'");
  if (action.kind == ActionKind::kRelative) action.alpha = reader.Number("action_alpha", 1e-4, 10);
  if (action.kind == ActionKind::kDiscrete) {
    for (const double multiplier : reader.NumberList("action_multipliers", 0.01, 100)) {
      action.multipliers.push_back(static_cast<float>(multiplier));
    }
  }
}

Result<ModelContract> ReadWeir1(const OnnxModel& model) {
  ModelContract contract;
  ModelDescription& description = contract.description;
  ModelLayout& layout = contract.layout;
  ContractReader reader(model);
  description.name = reader.OptionalText("name");
  description.version = reader.OptionalText("version");
  description.provenance = reader.OptionalText("provenance");
  ReadFeatures(reader, description.features);
  description.interval =
      TimeDelta::Millis(reader.Integer("interval_ms", kMinDecisionInterval.ms(), kMaxDecisionInterval.ms()));
  ReadAction(reader, description.action);
  contract.golden = reader.Text("golden");
  if (reader.error()) return *reader.error();

  description.observation_size = reader.Input("observation", 2, layout.observation);
  if (description.observation_size != description.features.size()) {
    reader.Fail("its 'observation' has " + std::to_string(description.observation_size) +
                " elements, but its metadata lists " + std::to_string(description.features.fields.size()) +
                " features with a history of " + std::to_string(description.features.history));
  }
  description.action_size = reader.Output("action", 2, layout.action);
  const size_t choices = description.action.multipliers.size();
  if (description.action_size != 1 && description.action_size != choices) {
    reader.Fail("its 'action' has " + std::to_string(description.action_size) + " elements; a " +
                std::string(ToString(description.action.kind)) + " action has 1" +
                (choices > 0 ? ", or a score for each of its " + std::to_string(choices) + " multipliers" : ""));
  }
  size_t known_inputs = 1, known_outputs = 1;
  description.takes_objective = Find(model.inputs, "objective") != ModelLayout::kNone;
  if (description.takes_objective) {
    ++known_inputs;
    if (reader.Input("objective", 2, layout.objective) != 3) reader.Fail("its 'objective' must have 3 elements");
  }
  if (Find(model.inputs, "state") != ModelLayout::kNone) {
    ++known_inputs;
    ++known_outputs;
    ModelLayout::State& state = layout.states.emplace_back();
    description.state_size = reader.Input("state", 2, state.input);
    if (reader.Output("next_state", 2, state.output) != description.state_size) {
      reader.Fail("its 'next_state' does not have the size of 'state'");
    }
  }
  if (model.inputs.size() != known_inputs) {
    reader.Fail("its inputs are " + Names(model.inputs) + "; allowed are 'observation', 'objective' and 'state'");
  }
  if (model.outputs.size() != known_outputs) {
    reader.Fail("its outputs are " + Names(model.outputs) + "; allowed are 'action' and, with a state, 'next_state'");
  }
  if (reader.error()) return *reader.error();
  return contract;
}

}  // namespace

Result<ModelContract> ReadModelContract(const OnnxModel& model) {
  if (LooksLikeMmsys2024(model)) return ReadMmsys2024(model);
  const std::optional<std::string_view> schema = model.Metadata("weir.schema");
  if (!schema) {
    return Error{"it was not exported for Weir: its metadata has no 'weir.schema', and with the inputs " +
                 Names(model.inputs) + " it is no MMSys 2024 model either"};
  }
  if (*schema != "1") {
    return Error{"its metadata 'weir.schema' is '" + std::string(schema->substr(0, 64)) +
                 "'; this version of Weir reads schema 1"};
  }
  return ReadWeir1(model);
}

}  // namespace weir::internal
