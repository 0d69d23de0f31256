// The Python module weir._core. Its types and docstrings are in weir/_core.pyi; documentation.cc adds the docstrings.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conversions.h"
#include "policy/policy.h"
#include "weir/action.h"
#include "weir/remb_sender.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

// Reads through Python, for its errors.
SharedModel LoadModelFile(const py::object& path) {
  const py::object file = py::module_::import("pathlib").attr("Path")(path).attr("open")("rb");
  // One byte above the limit, so that an endless file is refused as well.
  const py::bytes bytes = file.attr("read")(PolicyModel::kMaxSize + 1);
  file.attr("close")();
  return {LoadModel(bytes)};
}

// The model that comes with Weir, loaded once for all callers. The GIL guards it.
SharedModel ShippedModel() {
  static std::shared_ptr<const PolicyModel> shipped;
  if (!shipped) shipped = LoadModelFile(py::module_::import("weir").attr("shipped_model_path")()).model;
  return {shipped};
}

std::vector<float> RunPolicy(Policy& policy, const std::vector<float>& observation,
                             const ObjectiveArgument& objective) {
  const ModelDescription& description = policy.description();
  if (observation.size() != description.observation_size) {
    throw py::value_error("the observation has " + std::to_string(observation.size()) + " elements, the model takes " +
                          std::to_string(description.observation_size));
  }
  std::vector<float> action(description.action_size);
  switch (policy.Run(observation, ToObjective(objective), action)) {
    case PolicyFault::kNone:
      return action;
    case PolicyFault::kBadObservation:
      throw py::value_error("an element of the observation is not finite");
    case PolicyFault::kRuntimeError:
      throw py::value_error("ONNX Runtime reported an error");
    case PolicyFault::kNonFiniteOutput:
      throw py::value_error("the model's output is not finite");
  }
  throw py::value_error("unknown fault");
}

int64_t ApplyAction(const std::vector<float>& action, int64_t current_rate_bps, const std::string& kind,
                    int64_t min_bps, int64_t max_bps, double alpha, std::vector<float> multipliers) {
  const auto parsed = ParseActionKind(kind);
  if (!parsed)
    throw py::value_error("there is no kind of action '" + kind +
                          "'; there are rate_bps, log_rate, relative and discrete");
  const TargetRateConstraints bounds = ToConstraints(min_bps, min_bps, max_bps);
  if (current_rate_bps <= 0) throw py::value_error("current_rate_bps must be above 0");
  if (!(alpha > 0) || !std::isfinite(alpha)) throw py::value_error("alpha must be above 0 and finite");
  const auto is_positive = [](float multiplier) { return multiplier > 0 && std::isfinite(multiplier); };
  if (*parsed == ActionKind::kDiscrete &&
      (multipliers.empty() || !std::all_of(multipliers.begin(), multipliers.end(), is_positive))) {
    throw py::value_error("a discrete action needs multipliers, each above 0 and finite");
  }
  const ActionMapping mapping{*parsed, bounds.min_rate, bounds.max_rate, alpha, std::move(multipliers)};
  const auto rate = mapping.Apply(action, DataRate::BitsPerSecond(current_rate_bps));
  if (!rate) throw py::value_error("the action is empty, not finite, of the wrong size, or names no multiplier");
  return rate->bps();
}

py::bytes MakeRemb(int64_t sender_ssrc, int64_t rate_bps, const std::vector<int64_t>& ssrcs) {
  Remb remb;
  remb.sender_ssrc = Narrow<uint32_t>("sender_ssrc", sender_ssrc);
  remb.rate = DataRate::BitsPerSecond(rate_bps);
  std::array<uint8_t, RembSize(kMaxRembSsrcs)> buffer{};
  for (const int64_t ssrc : ssrcs) {
    if (remb.ssrc_count == kMaxRembSsrcs) break;
    remb.ssrcs[remb.ssrc_count++] = Narrow<uint32_t>("ssrc", ssrc);
  }
  const size_t size = ssrcs.size() > kMaxRembSsrcs ? 0 : WriteRemb(remb, buffer);
  if (size == 0) throw py::value_error("a REMB needs a rate above 0 and at most 255 SSRCs");
  return py::bytes(reinterpret_cast<const char*>(buffer.data()), size);
}

py::bytes MakeRemoteEstimate(int64_t link_capacity_lower_bps) {
  if (link_capacity_lower_bps < 0) throw py::value_error("link_capacity_lower_bps is below 0");
  const auto packet = WriteRemoteEstimate(DataRate::BitsPerSecond(link_capacity_lower_bps));
  return py::bytes(reinterpret_cast<const char*>(packet.data()), packet.size());
}

py::dict ReadRemb(const py::bytes& packet) {
  const auto bytes = ToBytes(packet);
  const auto remb = ParseRemb({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!remb) throw py::value_error("not a well-formed REMB packet");
  const std::vector<uint32_t> ssrcs(remb->ssrcs.begin(),
                                    remb->ssrcs.begin() + static_cast<ptrdiff_t>(remb->ssrc_count));
  return py::dict("sender_ssrc"_a = remb->sender_ssrc, "rate_bps"_a = remb->rate.bps(), "ssrcs"_a = ssrcs);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = WEIR_VERSION;
  module.def("onnxruntime_version", &OnnxRuntimeVersion);
  BindRegistry(module);
  BindFeatures(module);
  // Bound before the types that take a Model.
  py::class_<SharedModel>(module, "Model")
      .def(py::init([](const py::bytes& model) { return SharedModel{LoadModel(model)}; }), "model"_a)
      .def_static("load", &LoadModelFile, "path"_a)
      .def_static("shipped", &ShippedModel)
      .def_property_readonly("description", [](const SharedModel& self) { return ToDict(DescriptionOf(*self.model)); })
      .def_property_readonly("needs_onnxruntime",
                             [](const SharedModel& self) { return self.model->needs_onnxruntime(); });
  BindControllers(module);
  BindEstimator(module);
  BindSendSide(module);
  BindLayers(module);
  BindRepair(module);
  py::class_<Policy>(module, "Policy")
      .def(py::init([](const std::variant<SharedModel, py::bytes>& model) {
             const auto* const loaded = std::get_if<SharedModel>(&model);
             return std::make_unique<Policy>(loaded ? loaded->model : LoadModel(std::get<py::bytes>(model)));
           }),
           "model"_a)
      .def_property_readonly("description", [](const Policy& policy) { return ToDict(policy.description()); })
      .def_property_readonly("needs_onnxruntime",
                             [](const Policy& policy) { return policy.model().needs_onnxruntime(); })
      .def("run", &RunPolicy, "observation"_a, "objective"_a = kObjectivePresets[0].name)
      .def("reset_state", &Policy::ResetState);
  const ActionMapping defaults;
  module.def("apply_action", &ApplyAction, "action"_a, "current_rate_bps"_a, py::kw_only(), "kind"_a,
             "min_bps"_a = defaults.min_rate.bps(), "max_bps"_a = defaults.max_rate.bps(), "alpha"_a = defaults.alpha,
             "multipliers"_a = std::vector<float>());
  module.def("write_remb", &MakeRemb, "sender_ssrc"_a, "rate_bps"_a, "ssrcs"_a);
  module.def("write_remote_estimate", &MakeRemoteEstimate, "link_capacity_lower_bps"_a = kRemoteEstimateLower.bps());
  module.def("parse_remb", &ReadRemb, "packet"_a);
  AddDocumentation(module);
}

}  // namespace weir::python
