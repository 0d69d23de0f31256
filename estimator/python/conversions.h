// Checked conversions between plain Python values and the library's types. A ValueError names the invalid value and how
// to fix it.
#ifndef WEIR_PYTHON_CONVERSIONS_H_
#define WEIR_PYTHON_CONVERSIONS_H_

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "user_code.h"
#include "weir/arrival.h"
#include "weir/controllers.h"
#include "weir/guard.h"
#include "weir/model_description.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/pool_controller.h"
#include "weir/result.h"

namespace weir::python {

namespace py = pybind11;

// The name of a preset, or three weights.
using ObjectiveArgument = std::variant<std::string, std::vector<double>>;

// weir.Model: shares a loaded policy with the objects that are created with it.
struct SharedModel {
  std::shared_ptr<const PolicyModel> model;
};

template <class Integer>
Integer Narrow(const char* name, int64_t value) {
  if (value >= int64_t{std::numeric_limits<Integer>::min()} && value <= int64_t{std::numeric_limits<Integer>::max()}) {
    return static_cast<Integer>(value);
  }
  throw py::value_error(std::string(name) + " must be within [" + std::to_string(std::numeric_limits<Integer>::min()) +
                        ", " + std::to_string(std::numeric_limits<Integer>::max()) + "], not " + std::to_string(value));
}

template <class Value>
Value ValueOf(Result<Value> result) {
  if (!result) throw py::value_error(result.error());
  return std::move(result.value());
}

Timestamp ToTimestamp(const char* name, int64_t time_us);
Objective ToObjective(const ObjectiveArgument& argument);
// nullopt: the media rate is unknown.
TargetRateConstraints ToConstraints(int64_t min_rate_bps, int64_t start_rate_bps, int64_t max_rate_bps,
                                    std::optional<int64_t> max_media_rate_bps = std::nullopt);
// Returns all rules of the guard except those in `off`.
GuardOptions ToGuardOptions(const std::vector<std::string>& off);
EcnMarking ToEcn(int64_t ecn);
// Returns nullopt for an infinite time.
std::optional<int64_t> ToMicros(Timestamp time);
PacketKind ToPacketKind(const std::string& name);
std::span<const std::byte> ToBytes(const py::bytes& bytes);
std::shared_ptr<const PolicyModel> LoadModel(const py::bytes& model);
py::dict ToDict(const ModelDescription& description);
py::dict Describe(const MemberState& member);
// Makes the state, for one estimator, of a built-in name, a weir.Model, a weir.Pool, or a custom class, whose objects
// and exceptions `code` owns.
std::unique_ptr<ReceiverController> ToController(const py::object& controller, DataRate start_rate,
                                                 const std::shared_ptr<UserCode>& code);

// Add a part of the module each.
void AddDocumentation(py::module_& module);
void BindControllers(py::module_& module);
void BindEstimator(py::module_& module);
void BindFeatures(py::module_& module);
void BindLayers(py::module_& module);
void BindRegistry(py::module_& module);
void BindRepair(py::module_& module);
void BindSendSide(py::module_& module);

}  // namespace weir::python

#endif  // WEIR_PYTHON_CONVERSIONS_H_
