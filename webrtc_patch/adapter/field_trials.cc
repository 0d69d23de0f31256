#include "field_trials.h"

#include <algorithm>

#include "weir/names.h"

namespace weir {
namespace {

constexpr std::string_view kCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "_-.,:;|+";

// Removes the part before the first slash from `text` and returns it. Returns an empty part if there is no slash.
std::string_view TakePart(std::string_view& text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view part = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  return part;
}

bool IsPlain(std::string_view part) { return part.find_first_not_of(kCharacters) == std::string_view::npos; }

Error Refused(std::string_view trials, std::string_view why) {
  std::string message = "field trials \"";
  return Error{message.append(trials).append("\": ").append(why)};
}

}  // namespace

Result<FieldTrials> ParseFieldTrials(std::string_view text) {
  FieldTrials trials;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view trial = TakePart(rest);
    const std::string_view group = TakePart(rest);
    if (trial.empty() || group.empty()) return Refused(text, "each needs a name and a group, as in TRIAL/GROUP/");
    if (!IsPlain(trial) || !IsPlain(group))
      return Refused(text, "only letters, digits and _-.,:;|+ besides the slashes");
    if (!trials.emplace(trial, group).second) return Refused(text, "a trial is there twice");
  }
  return trials;
}

std::string ToString(const FieldTrials& trials) {
  std::string text;
  for (const auto& [trial, group] : trials) text.append(trial).append("/").append(group).append("/");
  return text;
}

Result<FieldTrials> FieldTrialsOf(std::string_view controller) {
  const std::string_view name = WithoutFieldTrials(controller);
  const FieldTrialController* const row = FindRow(kFieldTrialControllers, name);
  if (!row) {
    std::string message(name);
    return Error{
        message.append(" has no field trials; ").append(ListNames(kFieldTrialControllers, " and ")).append(" do")};
  }
  auto trials = ParseFieldTrials(controller.substr(std::min(name.size() + 1, controller.size())));
  if (!trials) return trials;
  const auto needed = ParseFieldTrials(row->trials);
  for (const auto& [trial, group] : needed.value()) {
    const std::string& chosen = trials.value().try_emplace(trial, group).first->second;
    if (chosen.find(group) == std::string::npos)
      return Refused(controller, std::string(trial).append(" must contain ").append(group));
  }
  return trials;
}

}  // namespace weir
