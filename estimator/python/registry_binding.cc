// The tables of names of weir._core: controllers, kinds of flows, objective presets, the guard's rules.
#include <pybind11/stl.h>

#include <array>
#include <charconv>
#include <string>

#include "conversions.h"
#include "registry.h"
#include "weir/guard.h"
#include "weir/objective.h"
#include "weir/pool_controller.h"

namespace weir::python {
namespace {

template <class Rows>
py::tuple ToTuple(const Rows& rows) {
  py::list all;
  for (const auto& row : rows) all.append(row);
  return py::tuple(all);
}

// The number of the decimal that the weight was written as: 0.4, not 0.4000000059604645.
double ToDouble(float weight) {
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), weight).ptr;
  double value = 0;
  std::from_chars(text.data(), end, value);
  return value;
}

}  // namespace

void BindRegistry(py::module_& module) {
  py::class_<RegisteredController>(module, "RegisteredController")
      .def_readonly("name", &RegisteredController::name)
      .def_readonly("summary", &RegisteredController::summary)
      .def_readonly("built_in", &RegisteredController::built_in)
      .def_readonly("simulated", &RegisteredController::simulated)
      .def_readonly("in_calls", &RegisteredController::in_calls)
      .def_readonly("at_native_sender", &RegisteredController::at_native_sender)
      .def_readonly("uses_model", &RegisteredController::uses_model)
      .def_readonly("knows_path", &RegisteredController::knows_path)
      .def_readonly("opt_in", &RegisteredController::opt_in);
  module.attr("REGISTERED_CONTROLLERS") = ToTuple(kControllers);
  module.attr("CONTROLLERS") = ToTuple(kBuiltInControllers);
  module.attr("FUSIONS") = ToTuple(kFusionNames);
  module.attr("PILOT_POLICIES") = ToTuple(kPilotPolicyNames);
  module.def(
      "parse_pool",
      [](const std::string& line) {
        const auto pool = ParsePool(line);
        if (!pool) throw py::value_error(pool.error());
        using namespace py::literals;  // NOLINT: the literals' only way in
        return py::dict("line"_a = ToString(pool.value()), "pilot"_a = pool.value().pilot,
                        "copilots"_a = pool.value().copilots, "fusion"_a = ToString(pool.value().fusion),
                        "policy"_a = ToString(pool.value().policy));
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

}  // namespace weir::python
