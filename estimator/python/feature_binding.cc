#include <string>
#include <utility>

#include "controllers/rule_controller.h"
#include "conversions.h"
#include "interval_statistics_fields.h"

namespace weir::python {
namespace {

namespace py = pybind11;
using namespace py::literals;  // NOLINT: the literals' only way in

std::pair<double, double> Ends(const FeatureRange& range) { return {range.low, range.high}; }

py::object ReadOnly(const py::dict& dict) { return py::module_::import("types").attr("MappingProxyType")(dict); }

py::dict Rule() {
  using R = RuleController;
  return py::dict("no_arrival_factor"_a = R::kNoArrivalFactor, "increase_factor"_a = R::kIncreaseFactor,
                  "headroom_factor"_a = R::kHeadroomFactor, "headroom_bps"_a = static_cast<double>(R::kHeadroom.bps()),
                  "queue_threshold_s"_a = R::kQueueThreshold.seconds(), "queue_target_s"_a = R::kQueueTarget.seconds(),
                  "queue_scale_s"_a = R::kQueueScale.seconds(), "minimum_backoff"_a = R::kMinimumBackoff,
                  "rate_window_s"_a = R::kRateWindow.seconds());
}

}  // namespace

void BindFeatures(py::module_& module) {
  using Feature = IntervalStatisticsField;
  py::class_<Feature>(module, "Feature")
      .def_property_readonly("name", [](const Feature& feature) { return std::string(feature.name); })
      .def_property_readonly("unit", [](const Feature& feature) { return std::string(feature.quantity.unit); })
      .def_property_readonly("load_check", [](const Feature& feature) { return Ends(feature.quantity.load_check); })
      .def_property_readonly("observation_space",
                             [](const Feature& feature) { return Ends(feature.quantity.observation_space); })
      .def_property_readonly("scale", [](const Feature& feature) { return std::string(ToString(feature.scale)); })
      .def_property_readonly("of_path", [](const Feature& feature) { return feature.of_path; })
      .def_property_readonly("description", [](const Feature& feature) { return std::string(feature.description); });
  py::dict features;
  for (const Feature& feature : kIntervalStatisticsFields) features[py::str(std::string(feature.name))] = feature;
  module.attr("FEATURES") = ReadOnly(features);
  module.attr("INTERVAL_STATISTICS_FIELDS") = py::tuple(features);
  module.attr("RULE") = ReadOnly(Rule());
}

}  // namespace weir::python
