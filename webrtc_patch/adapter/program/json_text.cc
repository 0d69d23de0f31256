#include "program/json_text.h"

#include <set>
#include <vector>

#include "program/json_object.h"

namespace weir {
namespace {

// What is nested deeper is no message or file of ours. Copying and writing it would recurse as deep, and the stack end.
constexpr int kMaxDepth = 256;

}  // namespace

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
