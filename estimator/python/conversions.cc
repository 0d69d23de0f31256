#include "conversions.h"

#include <algorithm>
#include <string_view>

#include "weir/custom_controller.h"
#include "weir/names.h"
#include "weir/network_controller.h"

namespace weir::python {

Timestamp ToTimestamp(const char* name, int64_t time_us) {
  const Timestamp time = Timestamp::Micros(time_us);
  if (!IsTime(time)) throw py::value_error(std::string(name) + " is not a time: it must be within 2^61 of 0");
  return time;
}

Objective ToObjective(const ObjectiveArgument& argument) {
  if (const auto* name = std::get_if<std::string>(&argument)) {
    if (const auto preset = ObjectivePreset(*name)) return *preset;
    throw py::value_error("there is no objective '" + *name + "'; there are " + ListNames(kObjectivePresets, " and ") +
                          ", or give three weights");
  }
  const auto& weights = std::get<std::vector<double>>(argument);
  if (weights.size() == 3) {
    const auto objective = NormalizedObjective(static_cast<float>(weights[0]), static_cast<float>(weights[1]),
                                               static_cast<float>(weights[2]));
    if (objective) return *objective;
  }
  throw py::value_error("an objective is three finite weights above 0: throughput, latency, loss");
}

TargetRateConstraints ToConstraints(int64_t min_rate_bps, int64_t start_rate_bps, int64_t max_rate_bps,
                                    std::optional<int64_t> max_media_rate_bps) {
  if (max_media_rate_bps && *max_media_rate_bps <= 0)
    throw py::value_error("max_media_rate_bps must be above 0, or None where it is unknown; it is " +
                          std::to_string(*max_media_rate_bps));
  TargetRateConstraints given{.min_rate = DataRate::BitsPerSecond(min_rate_bps),
                              .start_rate = DataRate::BitsPerSecond(start_rate_bps),
                              .max_rate = DataRate::BitsPerSecond(max_rate_bps)};
  if (max_media_rate_bps) given.max_media_rate = DataRate::BitsPerSecond(*max_media_rate_bps);
  const auto constraints = Validated(given);
  if (constraints) return constraints.value();
  throw py::value_error("the rates must be above 0, and min_rate_bps at most max_rate_bps; they are " +
                        std::to_string(min_rate_bps) + ", " + std::to_string(start_rate_bps) + " and " +
                        std::to_string(max_rate_bps));
}

GuardOptions ToGuardOptions(const std::vector<std::string>& off) {
  GuardOptions options;
  for (const std::string& name : off) {
    if (!options.SwitchOff(name)) throw py::value_error("the guard has no rule '" + name + "' that can be off");
  }
  return options;
}

EcnMarking ToEcn(int64_t ecn) {
  if (ecn < 0 || ecn > static_cast<int64_t>(EcnMarking::kCe))
    throw py::value_error("ecn must be within [0, 3], not " + std::to_string(ecn));
  return static_cast<EcnMarking>(ecn);
}

std::optional<int64_t> ToMicros(Timestamp time) { return time.IsFinite() ? std::optional(time.us()) : std::nullopt; }

PacketKind ToPacketKind(const std::string& name) {
  const auto found = std::ranges::find(kPacketKinds, name);
  if (found != kPacketKinds.end()) return static_cast<PacketKind>(found - kPacketKinds.begin());
  throw py::value_error("there is no packet kind '" + name + "'; there are video, audio, probe and retransmission");
}

std::span<const std::byte> ToBytes(const py::bytes& bytes) {
  const std::string_view view = bytes;
  return {reinterpret_cast<const std::byte*>(view.data()), view.size()};
}

std::shared_ptr<const PolicyModel> LoadModel(const py::bytes& model) {
  return ValueOf(PolicyModel::Load(ToBytes(model)));
}

py::dict ToDict(const ModelDescription& description) {
  py::list features;
  for (const IntervalStatisticsField& field : description.features.fields) features.append(std::string(field.name));
  py::dict dict;
  dict["format"] = description.format == ModelFormat::kWeir1 ? "weir/1" : "mmsys2024";
  dict["name"] = description.name;
  dict["version"] = description.version;
  dict["provenance"] = description.provenance;
  dict["features"] = features;
  dict["history"] = description.features.history;
  dict["interval_ms"] = static_cast<double>(description.interval.us()) * 1e-3;
  dict["action_kind"] = std::string(ToString(description.action.kind));
  dict["action_alpha"] =
      description.action.kind == ActionKind::kRelative ? py::object(py::float_(description.action.alpha)) : py::none();
  dict["action_multipliers"] = description.action.multipliers;
  dict["min_bps"] = description.action.min_rate.bps();
  dict["max_bps"] = description.action.max_rate.bps();
  dict["observation_size"] = description.observation_size;
  dict["action_size"] = description.action_size;
  dict["state_size"] = description.state_size;
  dict["takes_objective"] = description.takes_objective;
  return dict;
}

}  // namespace weir::python
