#include "input_files.h"

#include <fstream>
#include <iterator>

#include "input_error.h"

namespace weir::sim {

std::string ReadInputFile(const std::string& path, const char* what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(std::string("cannot read the ") + what + " " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

nlohmann::json ParseInputJson(const std::string& text) {
  try {
    return nlohmann::json::parse(text);
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
