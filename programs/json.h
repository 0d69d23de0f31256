// JSON: a strict reader that checks every value and reports faults by JSON path, and a writer of single lines.
#ifndef WEIR_PROGRAMS_JSON_H_
#define WEIR_PROGRAMS_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/input.h"

namespace weir {

// Throws ProgramError if the text is not JSON, too deeply nested, or repeats a key in an object. `path` names it in
// messages.
nlohmann::json ParseJson(std::string_view text, const std::string& path = {});

// Returns `value` as one line. Invalid UTF-8, which names of files and peers may contain, is replaced.
std::string JsonText(const nlohmann::ordered_json& value);

// Check and return single values; `path` names the value in messages.
double JsonNumber(const nlohmann::json& value, const std::string& path, const NumberRange& range);
int64_t JsonInteger(const nlohmann::json& value, const std::string& path, const NumberRange& range);
std::string JsonString(const nlohmann::json& value, const std::string& path);
const nlohmann::json& JsonArray(const nlohmann::json& value, const std::string& path, size_t min_size, size_t max_size);
// The index of a string in `names`.
size_t JsonChoice(const nlohmann::json& value, const std::string& path, std::span<const std::string_view> names);
[[noreturn]] void RefuseJson(const std::string& path, const std::string& fault);
// A short form of `value` for messages.
std::string ShownJson(const nlohmann::json& value);

// Reads the members of a JSON object. All functions throw ProgramError. The JSON value must outlive this reader.
class JsonObject {
 public:
  // `path` is empty for a document's root.
  JsonObject(const nlohmann::json& value, std::string path);

  // "path.key", or "key" at the root.
  std::string PathOf(std::string_view key) const;

  // Null if the key is absent.
  const nlohmann::json* Find(std::string_view key);
  // Null if the key is absent or its value is null.
  const nlohmann::json* FindOptional(std::string_view key);
  const nlohmann::json& Require(std::string_view key);

  // Return `otherwise` if the key is absent; without it the key is required.
  double Number(std::string_view key, const NumberRange& range, std::optional<double> otherwise = {});
  int64_t Integer(std::string_view key, const NumberRange& range, std::optional<int64_t> otherwise = {});
  bool Boolean(std::string_view key, bool otherwise);
  // The string must not be empty.
  std::string String(std::string_view key);
  // The index of the key's value in `names`.
  size_t Choice(std::string_view key, std::initializer_list<std::string_view> names) {
    return Choice(key, std::span(names.begin(), names.size()));
  }
  size_t Choice(std::string_view key, std::span<const std::string_view> names) {
    return JsonChoice(Require(key), PathOf(key), names);
  }

  // Refuses keys that none of the functions above has read.
  void RefuseUnknownKeys() const;

 private:
  const nlohmann::json* value_;
  std::string path_;
  std::vector<std::string> known_keys_;
};

}  // namespace weir

#endif  // WEIR_PROGRAMS_JSON_H_
