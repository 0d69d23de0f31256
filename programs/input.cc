#include "programs/input.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "programs/json.h"
#include "weir/names.h"

namespace weir {

std::string Printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    size_t end = 1;
    while (end < std::min(size, text.size()) && (text[end] & 0xc0) == 0x80) ++end;
    const bool control =
        lead < 0x20 || lead == 0x7f || (lead == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (end != size || control) {
      shown += '?';
    } else {
      shown += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  return shown;
}

std::string ReadInputFile(const std::string& path, const char* what) {
  const auto refuse = [&] {
    throw ProgramError(std::string("cannot read the ") + what + " " + path + " (" + std::strerror(errno) + ")");
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse();
  std::string content;
  std::vector<char> chunk(size_t{1} << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    content.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (content.size() > kMaxInputFileBytes) {
      throw ProgramError(path + ": is larger than any " + what + ", over " + std::to_string(kMaxInputFileBytes >> 20) +
                         " MiB");
    }
  }
  // A folder can be opened but not read.
  if (file.bad()) refuse();
  return content;
}

std::string ObjectiveExpected() {
  return ListNames(kObjectivePresets) + ", or three weights above 0 (throughput,latency,loss) such as 0.4,0.5,0.1";
}

std::optional<Objective> ParseObjective(const std::string& text) {
  if (const std::optional<Objective> preset = ObjectivePreset(text)) return preset;
  float weights[3];
  char rest = 0;
  if (std::sscanf(text.c_str(), "%f,%f,%f%c", &weights[0], &weights[1], &weights[2], &rest) != 3) return std::nullopt;
  return NormalizedObjective(weights[0], weights[1], weights[2]);
}

Objective ParseObjective(const nlohmann::json& value, const std::string& path) {
  JsonArray(value, path, 3, 3);
  float weights[3];
  for (size_t i = 0; i < 3; ++i) {
    const std::string element = path + "[" + std::to_string(i) + "]";
    weights[i] = static_cast<float>(JsonNumber(value[i], element, {.min = 0, .min_excluded = true}));
  }
  const auto objective = NormalizedObjective(weights[0], weights[1], weights[2]);
  if (!objective) RefuseJson(path, "the three weights are too far apart");
  return *objective;
}

}  // namespace weir
