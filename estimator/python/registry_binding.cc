// The tables of weir._core: controllers, objective presets, the guard's rules, features, the rule's constants.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "controllers/rule_controller.h"
#include "conversions.h"
#include "registry.h"
#include "weir/guard.h"
#include "weir/interval_statistics_fields.h"
#include "weir/objective.h"
#include "weir/pool_specification.h"

namespace weir::python {
namespace {

namespace py = pybind11;
using namespace py::literals;  // NOLINT: literals have no other import

// Returns the decimal number that the weight was written as: 0.4, not 0.4000000059604645.
double ToDouble(float weight) {
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), weight).ptr;
  double value = 0;
  std::from_chars(text.data(), end, value);
  return value;
}

std::pair<double, double> Ends(const FeatureRange& range) { return {range.low, range.high}; }

py::object ReadOnly(const py::dict& dict) { return py::module_::import("types").attr("MappingProxyType")(dict); }

py::dict RuleConstants() {
  using R = Rule;
  return py::dict("no_arrival_factor"_a = R::kNoArrivalFactor, "increase_factor"_a = R::kIncreaseFactor,
                  "headroom_factor"_a = R::kHeadroomFactor, "headroom_bps"_a = static_cast<double>(R::kHeadroom.bps()),
                  "queue_threshold_s"_a = R::kQueueThreshold.seconds(), "queue_target_s"_a = R::kQueueTarget.seconds(),
                  "queue_scale_s"_a = R::kQueueScale.seconds(), "minimum_backoff"_a = R::kMinimumBackoff,
                  "rate_window_s"_a = R::kRateWindow.seconds());
}

}  // namespace

void BindRegistry(py::module_& module) {
  py::class_<RegisteredController>(module, "Controller")
      .def_readonly("name", &RegisteredController::name)
      .def_readonly("summary", &RegisteredController::summary)
      .def_property_readonly("uses_model", &RegisteredController::uses_model);
  py::dict controllers;
  for (const RegisteredController& controller : kControllers) controllers[py::cast(controller.name)] = controller;
  module.attr("CONTROLLERS") = ReadOnly(controllers);
  module.def(
      "parse_pool",
      [](const std::string& line) {
        const PoolSpecification pool = ValueOf(ParsePool(line));
        return py::dict("line"_a = ToString(pool), "pilot"_a = pool.pilot, "copilots"_a = pool.copilots,
                        "fusion"_a = ToString(pool.fusion), "policy"_a = ToString(pool.policy));
      },
      py::arg("line"));
  py::dict rules;
  for (const GuardRuleInfo& rule : GuardRules()) rules[py::cast(rule.name())] = rule.has_switch;
  module.attr("GUARD_RULES") = rules;
  py::dict presets;
  for (const auto& [name, objective] : kObjectivePresets) {
    presets[py::cast(name)] =
        py::make_tuple(ToDouble(objective.throughput), ToDouble(objective.latency), ToDouble(objective.loss));
  }
  module.attr("OBJECTIVE_PRESETS") = presets;
}

void BindFeatures(py::module_& module) {
  using Feature = IntervalStatisticsField;
  py::class_<Feature>(module, "Feature")
      .def_property_readonly("name", [](const Feature& feature) { return std::string(feature.name); })
      .def_property_readonly("unit", [](const Feature& feature) { return std::string(feature.quantity.unit); })
      .def_property_readonly("load_check", [](const Feature& feature) { return Ends(feature.quantity.load_check); })
      .def_property_readonly("observation_space",
                             [](const Feature& feature) { return Ends(feature.quantity.observation_space); })
      .def_property_readonly("scale", [](const Feature& feature) { return std::string(ToString(feature.scale)); })
      .def_property_readonly("of_path", [](const Feature& feature) { return feature.of_path; });
  py::dict features;
  for (const Feature& feature : kIntervalStatisticsFields) features[py::str(std::string(feature.name))] = feature;
  module.attr("FEATURES") = ReadOnly(features);
  module.attr("DECISION_INTERVALS_MS") = py::make_tuple(kMinDecisionInterval.ms(), kMaxDecisionInterval.ms());
  module.attr("MAXIMUM_HISTORY") = kMaxHistory;
  module.attr("RULE") = ReadOnly(RuleConstants());
  module.def("rule_rate_bps", py::vectorize(&Rule::BaseRateBps), "receive_rate_bps"_a, "queueing_delay_s"_a,
             "packets_received"_a, "target_bps"_a);
}

}  // namespace weir::python
