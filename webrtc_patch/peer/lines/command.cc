#include "lines/command.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "lines/options.h"
#include "weir/registry/controllers.h"
#include "weir/registry/names.h"

namespace weir::peer {
namespace {

using nlohmann::json;

// Media sections beyond are no call of ours.
constexpr int64_t kMaxMlineIndex = 255;

struct BadLine {
  std::string message;
};

const json& Require(const json& line, const char* key) {
  const auto value = line.find(key);
  if (value == line.end()) throw BadLine{std::string("\"") + key + "\" is missing"};
  return *value;
}

std::string String(const json& line, const char* key) {
  const json& value = Require(line, key);
  if (!value.is_string()) throw BadLine{std::string("\"") + key + "\" must be a string"};
  return value.get<std::string>();
}

float Number(const json& line, const char* key) {
  const json& value = Require(line, key);
  if (!value.is_number()) throw BadLine{std::string("\"") + key + "\" must be a number"};
  return value.get<float>();
}

int64_t Integer(const json& value, const char* key, int64_t max) {
  // Out of range is out of range, whichever type the number was read as.
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0) || number > static_cast<double>(max) || number != std::floor(number))
    throw BadLine{std::string("\"") + key + "\" must be a whole number, 0 to " + std::to_string(max)};
  return static_cast<int64_t>(number);
}

bool IsNull(const json& line, const char* key) {
  const auto value = line.find(key);
  return value == line.end() || value->is_null();
}

CandidateCommand ParseCandidate(const json& line) {
  CandidateCommand command;
  // A browser ends its candidates with null.
  if (!IsNull(line, "candidate")) command.candidate = String(line, "candidate");
  if (!IsNull(line, "sdpMid")) command.sdp_mid = String(line, "sdpMid");
  if (!IsNull(line, "sdpMLineIndex"))
    command.sdp_mline_index = static_cast<int>(Integer(line["sdpMLineIndex"], "sdpMLineIndex", kMaxMlineIndex));
  return command;
}

ObjectiveCommand ParseObjectiveLine(const json& line) {
  const auto objective = NormalizedObjective(Number(line, "throughput"), Number(line, "latency"), Number(line, "loss"));
  if (!objective) throw BadLine{"an objective's three weights must be above 0"};
  return {*objective};
}

BitrateCommand ParseBitrate(const json& line) {
  constexpr int64_t kAny = int64_t{1} << 52;
  const int64_t min_bps = Integer(Require(line, "min_bps"), "min_bps", kAny);
  const int64_t max_bps = Integer(Require(line, "max_bps"), "max_bps", kAny);
  const bool restart = !IsNull(line, "start_bps");
  const auto bitrate = MakeBitrate(min_bps, restart ? Integer(line["start_bps"], "start_bps", kAny) : min_bps, max_bps);
  if (!bitrate) throw BadLine{bitrate.error()};
  return {bitrate.value(), restart};
}

Command Parse(const json& line) {
  if (!line.is_object()) throw BadLine{"a line must be a JSON object"};
  const std::string type = String(line, "type");
  if (type == "start") return StartCommand{};
  if (type == "stats") return StatsCommand{};
  if (type == "stop") return StopCommand{};
  if (type == "offer" || type == "answer") return DescriptionCommand{type == "offer", String(line, "sdp")};
  if (type == "candidate") return ParseCandidate(line);
  if (type == "objective") return ParseObjectiveLine(line);
  if (type == "bitrate") return ParseBitrate(line);
  if (type == "controller") {
    const auto mode = ParseReceiveSideMode(String(line, "name"));
    if (!mode) throw BadLine{"a controller is " + ListNames(kCallControllers, " or ")};
    return ControllerCommand{*mode};
  }
  throw BadLine{"there is no type \"" + type.substr(0, 40) + "\""};
}

}  // namespace

Result<Command> ParseCommand(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  if (line.is_discarded()) return Error{"standard input: a line is not JSON"};
  try {
    return Parse(line);
  } catch (const BadLine& fault) {
    return Error{"standard input: " + fault.message};
  }
}

}  // namespace weir::peer
