#include "program/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

namespace weir {
namespace {

// No message or file of ours is nested deeper. Copying and writing a value recurses as deep as it is nested.
constexpr int kMaxDepth = 256;

std::string Shown(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15g", number);
  return text;
}

void CheckRange(double number, const std::string& path, const NumberRange& range, const nlohmann::json& value) {
  if (!std::isfinite(number)) RefuseJson(path, "must be finite");
  if (range.min_excluded ? number <= range.min : number < range.min) {
    RefuseJson(path, std::string("must be ") + (range.min_excluded ? "greater than " : "at least ") + Shown(range.min) +
                         ", not " + ShownJson(value));
  }
  if (range.max_excluded ? number >= range.max : number > range.max) {
    RefuseJson(path, std::string("must be ") + (range.max_excluded ? "less than " : "at most ") + Shown(range.max) +
                         ", not " + ShownJson(value));
  }
}

}  // namespace

void RefuseJson(const std::string& path, const std::string& fault) {
  throw InputError(path.empty() ? fault : path + ": " + fault);
}

std::string ShownJson(const nlohmann::json& value) {
  if (value.is_object()) return "a JSON object";
  if (value.is_array()) return "a JSON array";
  constexpr size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

double JsonNumber(const nlohmann::json& value, const std::string& path, const NumberRange& range) {
  if (!value.is_number()) RefuseJson(path, "must be a number, not " + ShownJson(value));
  const double number = value.get<double>();
  CheckRange(number, path, range, value);
  return number;
}

int64_t JsonInteger(const nlohmann::json& value, const std::string& path, const NumberRange& range) {
  if (!value.is_number_integer()) RefuseJson(path, "must be a whole number, not " + ShownJson(value));
  CheckRange(value.get<double>(), path, range, value);
  // Beyond 2^53 the range's double is coarse, and an unsigned value may not fit.
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    RefuseJson(path, "is too large: " + ShownJson(value));
  }
  return value.get<int64_t>();
}

std::string JsonString(const nlohmann::json& value, const std::string& path) {
  if (!value.is_string()) RefuseJson(path, "must be a string, not " + ShownJson(value));
  return value.get<std::string>();
}

const nlohmann::json& JsonArray(const nlohmann::json& value, const std::string& path, size_t min_size,
                                size_t max_size) {
  if (!value.is_array()) RefuseJson(path, "must be a JSON array, not " + ShownJson(value));
  if (value.size() < min_size) RefuseJson(path, "needs at least " + std::to_string(min_size) + " value(s)");
  if (value.size() > max_size) RefuseJson(path, "takes at most " + std::to_string(max_size) + " value(s)");
  return value;  // NOLINT(bugprone-return-const-ref-from-parameter): a part of a document that outlives the call
}

JsonObject::JsonObject(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {
  if (!value.is_object()) RefuseJson(path_, "must be a JSON object, not " + ShownJson(value));
}

std::string JsonObject::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

const nlohmann::json* JsonObject::Find(std::string_view key) {
  known_keys_.emplace_back(key);
  const auto found = value_->find(key);
  return found == value_->end() ? nullptr : &*found;
}

const nlohmann::json* JsonObject::FindOptional(std::string_view key) {
  const nlohmann::json* value = Find(key);
  return value && value->is_null() ? nullptr : value;
}

const nlohmann::json& JsonObject::Require(std::string_view key) {
  const nlohmann::json* value = Find(key);
  if (!value) throw MissingKey(PathOf(key) + ": is missing; add it");
  return *value;
}

double JsonObject::Number(std::string_view key, const NumberRange& range, std::optional<double> otherwise) {
  const nlohmann::json* value = otherwise ? Find(key) : &Require(key);
  return value ? JsonNumber(*value, PathOf(key), range) : *otherwise;
}

int64_t JsonObject::Integer(std::string_view key, const NumberRange& range, std::optional<int64_t> otherwise) {
  const nlohmann::json* value = otherwise ? Find(key) : &Require(key);
  return value ? JsonInteger(*value, PathOf(key), range) : *otherwise;
}

bool JsonObject::Boolean(std::string_view key, bool otherwise) {
  const nlohmann::json* value = Find(key);
  if (!value) return otherwise;
  if (!value->is_boolean()) RefuseJson(PathOf(key), "must be true or false, not " + ShownJson(*value));
  return value->get<bool>();
}

std::string JsonObject::String(std::string_view key) {
  std::string text = JsonString(Require(key), PathOf(key));
  if (text.empty()) RefuseJson(PathOf(key), "must not be empty");
  return text;
}

size_t JsonObject::Choice(std::string_view key, std::span<const std::string_view> names) {
  const std::string chosen = JsonString(Require(key), PathOf(key));
  const auto found = std::find(names.begin(), names.end(), chosen);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string allowed;
  for (const std::string_view name : names) {
    if (!allowed.empty()) allowed += name == *(names.end() - 1) ? " or " : ", ";
    allowed += '"' + std::string(name) + '"';
  }
  RefuseJson(PathOf(key), ShownJson(chosen) + " is not allowed; use " + allowed);
}

void JsonObject::RefuseUnknownKeys() const {
  for (const auto& [key, value] : value_->items()) {
    if (std::find(known_keys_.begin(), known_keys_.end(), key) != known_keys_.end()) continue;
    std::string known;
    for (const std::string& name : known_keys_) known += (known.empty() ? "" : ", ") + name;
    RefuseJson(PathOf(key), "unknown key; remove it, or use one of: " + known);
  }
}

nlohmann::json ParseJson(std::string_view text, const std::string& path) {
  // The keys so far of each object that is open.
  std::vector<std::set<std::string>> keys;
  const auto check = [&keys, &path](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth >= kMaxDepth && (event == Event::object_start || event == Event::array_start)) {
      RefuseJson(path, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      RefuseJson(path, "the key " + ShownJson(parsed) + " is there twice in one object; keep one of them");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    RefuseJson(path, "not JSON, at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    RefuseJson(path, "a number in it is larger than any that can be used");
  }
}

std::string JsonText(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace weir
