#include "run/arguments.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/input_error.h"

namespace weir::sim {

Arguments::Arguments(const std::vector<std::string>& arguments, std::initializer_list<std::string_view> flags,
                     std::initializer_list<std::string_view> options) {
  const auto is_in = [](std::initializer_list<std::string_view> names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  bool only_positional = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_positional || argument.empty() || argument[0] != '-' || argument == "-") {
      positional_.push_back(argument);
    } else if (argument == "--") {
      only_positional = true;
    } else if (is_in(flags, argument)) {
      values_[argument] = "";
    } else if (!is_in(options, argument)) {
      throw InputError("unknown option " + argument + "; see weir-sim --help");
    } else if (i + 1 == arguments.size()) {
      throw InputError(argument + " needs a value");
    } else {
      values_[argument] = arguments[++i];
    }
  }
}

std::string Arguments::Get(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::string Arguments::Require(const std::string& name) const {
  const std::string value = Get(name);
  if (value.empty()) throw InputError(name + " is needed; see weir-sim --help");
  return value;
}

uint64_t Arguments::GetInteger(const std::string& name, uint64_t min, uint64_t max, uint64_t otherwise) const {
  if (!Has(name)) return otherwise;
  const std::string text = Get(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return value;
  throw InputError(name + " " + text + ": must be a whole number, " +
                   (max == std::numeric_limits<uint64_t>::max() ? "at least " + std::to_string(min)
                                                                : std::to_string(min) + " to " + std::to_string(max)));
}

}  // namespace weir::sim
