// Reads one JSON object of a scenario document into the struct of that part, whose Read() has a row for every key.
#ifndef WEIR_SIMULATOR_SCENARIO_PART_READER_H_
#define WEIR_SIMULATOR_SCENARIO_PART_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "core/piecewise_constant.h"
#include "core/sim_time.h"
#include "programs/json.h"
#include "scenario/capacity_trace.h"
#include "scenario/rtp_spec.h"
#include "weir/names.h"

namespace weir::sim {

// traces/weir_traces/schema has checked the document and filled in every key. This class checks only what would break a
// simulation: types, finite numbers whose ns and bit/s fit into 64 bits, increasing times, counts. Every key of a row
// must be present, a nullable one as null; other keys are ignored. All functions throw ProgramError.
class PartReader : private JsonObject {
 public:
  using JsonObject::JsonObject;

  static constexpr NumberRange kNotNegative{.min = 0};
  // Seconds or milliseconds.
  static constexpr NumberRange kTime{.min = 0, .max = 1e9};

  // True if a nullable key has a value.
  bool Has(std::string_view key) { return !Require(key).is_null(); }
  bool IsObject(std::string_view key) { return Require(key).is_object(); }

  void Number(std::string_view key, double& to, const NumberRange& range = kNotNegative) {
    to = JsonObject::Number(key, range);
  }
  void Integer(std::string_view key, int64_t& to, const NumberRange& range) { to = JsonObject::Integer(key, range); }
  void Flag(std::string_view key, bool& to);
  // The string must not be empty.
  void Text(std::string_view key, std::string& to) { to = String(key); }
  template <class Enum, class Names = std::initializer_list<std::string_view>>
  void Choice(std::string_view key, Enum& to, const Names& names) {
    to = static_cast<Enum>(JsonObject::Choice(key, names));
  }
  template <class Enum, class Names>
  void Choices(std::string_view key, std::vector<Enum>& to, const Names& names, size_t most) {
    for (const nlohmann::json& value : Array(key, 0, most))
      to.push_back(static_cast<Enum>(JsonChoice(value, PathOf(key), names)));
  }
  // Reads the number of the key that is present, one of `keys`.
  template <class Enum>
  void OneOf(std::initializer_list<std::string_view> keys, Enum& which, double& amount) {
    const auto found = std::ranges::find_if(keys, [this](std::string_view key) { return Find(key) != nullptr; });
    if (found == keys.end()) Refuse(ListNames(keys, " or "), "is missing; add one");
    which = static_cast<Enum>(found - keys.begin());
    Number(*found, amount);
  }
  void Rate(std::string_view key, int64_t& to_bps);
  void Rate(std::string_view key, DataRate& to, int64_t least_bps = 1);
  void Seconds(std::string_view key, SimDuration& to);
  // Reads a time of the scenario in seconds.
  void Time(std::string_view key, SimTime& to);
  void Milliseconds(std::string_view key, SimDuration& to, const NumberRange& range = kTime);

  // Reads two numbers, the first not above the second.
  void Interval(std::string_view key, int64_t& low, int64_t& high, const NumberRange& range);

  // Reads a number, or numbers under `values_key` that hold from given times on.
  void OverTime(std::string_view key, std::string_view values_key, PiecewiseConstant<double>& to);
  void DelayOverTime(std::string_view key, PiecewiseConstant<SimDuration>& to);
  void Capacity(std::string_view key, std::optional<CapacityTrace>& to);
  void Pauses(std::string_view key, sim::Pauses& to);
  void ClockSteps(std::string_view key, PiecewiseConstant<SimDuration>& set);
  void Weights(std::string_view key, Objective& to) { to = ParseObjective(Require(key), PathOf(key)); }

  const nlohmann::json& Array(std::string_view key, size_t least, size_t most) {
    return JsonArray(Require(key), PathOf(key), least, most);
  }
  template <class Read>
  void Within(std::string_view key, Read read) {
    PartReader reader(Require(key), PathOf(key));
    read(reader);
  }
  template <class Part>
  void Object(std::string_view key, Part& part) {
    Within(key, [&part](PartReader& reader) { part.Read(reader); });
  }

  [[noreturn]] void Refuse(std::string_view key, const std::string& fault) const { RefuseJson(PathOf(key), fault); }
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_PART_READER_H_
