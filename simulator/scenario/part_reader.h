// Reads one JSON object of a scenario document into the struct of that part, whose Read() has a row for every key.
#ifndef WEIR_SIMULATOR_SCENARIO_PART_READER_H_
#define WEIR_SIMULATOR_SCENARIO_PART_READER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/piecewise_constant.h"
#include "programs/json.h"
#include "scenario/capacity_trace.h"
#include "scenario/rtp_spec.h"
#include "scenario/tcp_spec.h"

namespace weir::sim {

// Every key must be there, a nullable one as null: the document is whole. All functions throw ProgramError. Times are
// rounded to ns, rates to bit/s.
class PartReader {
 public:
  // Both outlive this.
  PartReader(const nlohmann::json& value, const std::string& path) : object_(value, path), path_(path) {}

  // True if a nullable key has a value.
  bool Has(std::string_view key) { return !object_.Require(key).is_null(); }
  // The index of the one key that is there.
  size_t OneOf(std::initializer_list<std::string_view> keys);

  void Number(std::string_view key, double& to, const NumberRange& range) { to = object_.Number(key, range); }
  void Number(std::string_view key, int64_t& to, const NumberRange& range);
  template <class Value>
  void Integer(std::string_view key, Value& to, const NumberRange& range) {
    to = static_cast<Value>(object_.Integer(key, range));
  }
  void Flag(std::string_view key, bool& to);
  // Not empty.
  void Text(std::string_view key, std::string& to) { to = object_.String(key); }
  template <class Enum>
  void Choice(std::string_view key, Enum& to, std::initializer_list<std::string_view> names) {
    to = static_cast<Enum>(object_.Choice(key, names));
  }
  size_t Choice(std::string_view key, std::span<const std::string_view> names) { return object_.Choice(key, names); }
  // A range without zero keeps the rate above zero.
  void Rate(std::string_view key, DataRate& to, const NumberRange& range);
  void Seconds(std::string_view key, int64_t& to_ns, const NumberRange& range);
  void Milliseconds(std::string_view key, int64_t& to_ns, const NumberRange& range);
  // Two integers, the first not above the second.
  void Interval(std::string_view key, int64_t& low, int64_t& high, const NumberRange& range);

  // A number, or numbers under `values_key` from given times on.
  void Number(std::string_view key, std::string_view values_key, PiecewiseConstant<double>& to,
              const NumberRange& range);
  void Milliseconds(std::string_view key, PiecewiseConstant<int64_t>& to_ns, const NumberRange& range);
  void Capacity(std::string_view key, std::optional<CapacityTrace>& to);
  void Pauses(std::string_view key, sim::Pauses& to_ns);
  void ClockSteps(std::string_view key, PiecewiseConstant<int64_t>& set_ns);

  void Controller(std::string_view key, std::string& to);
  void Weights(std::string_view key, Objective& to);
  void CongestionControl(std::string_view key, TcpSpec& to);

  template <class Part>
  void Object(std::string_view key, Part& part);

  void AtLeast(std::string_view key, DataRate rate, std::string_view bound_key, DataRate bound) const;
  [[noreturn]] void Refuse(const std::string& fault) const { RefuseJson(path_, fault); }
  // Refuses keys that no row has read.
  void Finish() const { object_.RefuseUnknownKeys(); }

 private:
  JsonObject object_;
  const std::string& path_;
};

template <class Part>
void ReadPart(const nlohmann::json& value, const std::string& path, Part& part) {
  PartReader reader(value, path);
  part.Read(reader);
  reader.Finish();
}

template <class Part>
void PartReader::Object(std::string_view key, Part& part) {
  ReadPart(object_.Require(key), object_.PathOf(key), part);
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_PART_READER_H_
