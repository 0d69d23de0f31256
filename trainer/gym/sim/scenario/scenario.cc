#include "scenario/scenario.h"

#include <algorithm>

#include "scenario/scenario_parts.h"

namespace weir::sim {

Scenario ParseScenario(const nlohmann::json& document) {
  JsonObject object(document, "");
  if (const std::string schema = object.String("schema"); schema != kScenarioSchema) {
    RefuseJson("schema", "must be \"" + std::string(kScenarioSchema) + "\", not " + ShownJson(schema));
  }
  Scenario scenario;
  scenario.name = object.String("name");
  scenario.description = object.String("description", "");
  if (const nlohmann::json* provenance = object.Find("provenance")) {
    const JsonObject entries(*provenance, "provenance");
    for (const auto& [key, value] : provenance->items()) JsonString(value, entries.PathOf(key));
  }
  // The controllers' clock counts microseconds.
  scenario.duration =
      TimeDelta::Micros(std::max<int64_t>(SecondsToNs(object.Number("duration_s", kDuration)) / 1000, 1));
  scenario.forward = ParseLink(object.Require("forward"), "forward", {});
  const nlohmann::json* reverse = object.Find("reverse");
  const LinkDefaults reverse_defaults{.capacity_required = false,
                                      .one_way_delay_ns = scenario.forward.one_way_delay_ns};
  scenario.reverse = ParseLink(reverse ? *reverse : nlohmann::json::object(), "reverse", reverse_defaults);

  const nlohmann::json& flows = JsonArray(object.Require("flows"), "flows", 1, SIZE_MAX);
  for (size_t i = 0; i < flows.size(); ++i) {
    const std::string path = "flows[" + std::to_string(i) + "]";
    FlowSpec flow = ParseFlow(flows[i], path, scenario.duration_ns());
    const auto same_id = [&flow](const FlowSpec& other) { return other.id == flow.id; };
    if (std::any_of(scenario.flows.begin(), scenario.flows.end(), same_id)) {
      RefuseJson(path + ".id", ShownJson(flow.id) + " is taken; give every flow an id of its own");
    }
    scenario.flows.push_back(std::move(flow));
  }
  object.RefuseUnknownKeys();
  return scenario;
}

}  // namespace weir::sim
