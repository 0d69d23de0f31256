#include "programs/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

namespace weir {
namespace {

// Deeper than any message or file of Weir's. Bounds the recursion of copying and writing a value.
constexpr size_t kMaxDepth = 256;

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
  throw ProgramError(path.empty() ? fault : path + ": " + fault);
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
  // Doubles are inexact beyond 2^53, so an unsigned value that passed CheckRange may still not fit.
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

size_t JsonChoice(const nlohmann::json& value, const std::string& path, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), JsonString(value, path));
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string allowed;
  for (const std::string_view name : names) {
    if (!allowed.empty()) allowed += name == *(names.end() - 1) ? " or " : ", ";
    allowed += '"' + std::string(name) + '"';
  }
  RefuseJson(path, ShownJson(value) + " is not allowed; use " + allowed);
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
  if (!value) RefuseJson(PathOf(key), "is missing; add it");
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

void JsonObject::RefuseUnknownKeys() const {
  for (const auto& [key, value] : value_->items()) {
    if (std::find(known_keys_.begin(), known_keys_.end(), key) != known_keys_.end()) continue;
    std::string known;
    for (const std::string& name : known_keys_) known += (known.empty() ? "" : ", ") + name;
    RefuseJson(PathOf(key), "unknown key; remove it, or use one of: " + known);
  }
}

namespace {

// Checks for deep nesting and repeated keys, which the parser accepts. A parser callback could do so too, but with a
// callback the parser revisits all values of an array for each object in it.
class Checker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Checker(const std::string& path) : path_(path) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    RefuseJson(path_, "the key " + ShownJson(key) + " is there twice in one object; keep one of them");
  }
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception& error) override {
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error))
      RefuseJson(path_, "a number in it is larger than any that can be used");
    RefuseJson(path_, "not JSON, at byte " + std::to_string(byte));
  }

 private:
  bool Open() {
    if (keys_.size() >= kMaxDepth) {
      RefuseJson(path_, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  const std::string& path_;
  // The keys read so far of each open object. An open array has an empty set.
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

nlohmann::json ParseJson(std::string_view text, const std::string& path) {
  Checker checker(path);
  nlohmann::json::sax_parse(text, &checker);
  return nlohmann::json::parse(text);
}

std::string JsonText(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace weir
