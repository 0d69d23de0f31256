// Fills the defaults of traces/weir_traces/schema into a scenario, as Python does before the simulator reads it.
#ifndef WEIR_TESTS_SIMULATOR_WHOLE_SCENARIO_H_
#define WEIR_TESTS_SIMULATOR_WHOLE_SCENARIO_H_

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace weir::sim {

// The file that make_scenario_defaults.py has written.
inline const nlohmann::json& ScenarioDefaults() {
  static const nlohmann::json defaults = [] {
    std::ifstream file(WEIR_SCENARIO_DEFAULTS);
    return nlohmann::json::parse(file);
  }();
  return defaults;
}

inline void FillDefaults(nlohmann::json& value, const std::string& key) {
  if (value.is_array()) {
    for (nlohmann::json& element : value) FillDefaults(element, key);
  }
  if (!value.is_object()) return;
  const auto kind = value.find("kind");
  const auto defaults =
      ScenarioDefaults().find(kind != value.end() && kind->is_string() ? kind->get<std::string>() : key);
  if (defaults != ScenarioDefaults().end()) {
    for (const auto& [name, otherwise] : defaults->items()) {
      if (!value.contains(name)) value[name] = otherwise;
    }
  }
  for (const auto& [name, inner] : value.items()) FillDefaults(inner, name);
}

inline nlohmann::json WholeScenario(nlohmann::json document) {
  if (!document.is_object()) return document;
  if (!document.contains("reverse")) document["reverse"] = nlohmann::json::object();
  nlohmann::json& reverse = document["reverse"];
  const auto forward = document.find("forward");
  if (reverse.is_object()) {
    if (!reverse.contains("capacity")) reverse["capacity"] = nullptr;
    // The return path has the forward link's delay.
    if (!reverse.contains("one_way_delay_ms") && forward != document.end() && forward->is_object() &&
        forward->contains("one_way_delay_ms")) {
      reverse["one_way_delay_ms"] = (*forward)["one_way_delay_ms"];
    }
  }
  FillDefaults(document, "scenario");
  return document;
}

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIMULATOR_WHOLE_SCENARIO_H_
