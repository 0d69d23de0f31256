#include "run/input_files.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/input_error.h"
#include "core/json_object.h"

namespace weir::sim {

std::string ReadInputFile(const std::string& path, const char* what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(std::string("cannot read the ") + what + " " + path);
  std::string content;
  std::vector<char> chunk(size_t{1} << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    content.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (content.size() > kMaxInputFileBytes) {
      throw InputError(path + ": is larger than any " + what + ", over " + std::to_string(kMaxInputFileBytes >> 20) +
                       " MiB");
    }
  }
  // A folder opens and cannot be read.
  if (file.bad()) throw InputError(std::string("cannot read the ") + what + " " + path);
  return content;
}

nlohmann::json ParseInputJson(const std::string& text) {
  // The keys so far of each object that is open.
  std::vector<std::set<std::string>> keys;
  const auto refuse_second_key = [&keys](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw InputError("the key " + ShownJson(parsed) + " is there twice in one object; keep one of them");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, refuse_second_key);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError("not JSON, at byte " + std::to_string(error.byte));
  }
}

Scenario ReadScenarioFile(const std::string& path) {
  try {
    return ParseScenario(ParseInputJson(ReadInputFile(path, "scenario")));
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.find(path) == std::string::npos ? path + ": " + message : message);
  }
}

}  // namespace weir::sim
