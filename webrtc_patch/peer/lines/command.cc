#include "lines/command.h"

#include <cmath>
#include <utility>

#include "lines/options.h"
#include "program/json.h"
#include "weir/pool/library_members.h"
#include "weir/registry/controllers.h"
#include "weir/registry/names.h"

namespace weir::peer {
namespace {

using nlohmann::json;

// Media sections beyond are no call of ours.
constexpr double kMaxMlineIndex = 255;
constexpr double kMaxBitrateBps = 1e15;

// However the number is written: a browser's 5e6 is one too.
int64_t WholeNumber(const json& value, const std::string& key, double max) {
  const double number = JsonNumber(value, key, {.min = 0, .max = max});
  if (number != std::floor(number)) RefuseJson(key, "must be a whole number, not " + ShownJson(value));
  return static_cast<int64_t>(number);
}

std::string Text(JsonObject& line, const char* key) { return JsonString(line.Require(key), key); }

CandidateCommand ParseCandidate(JsonObject& line) {
  CandidateCommand command;
  // A browser ends its candidates with null.
  if (const json* candidate = line.FindOptional("candidate")) command.candidate = JsonString(*candidate, "candidate");
  if (const json* mid = line.FindOptional("sdpMid")) command.sdp_mid = JsonString(*mid, "sdpMid");
  if (const json* index = line.FindOptional("sdpMLineIndex"))
    command.sdp_mline_index = static_cast<int>(WholeNumber(*index, "sdpMLineIndex", kMaxMlineIndex));
  return command;
}

ObjectiveCommand ParseObjectiveLine(JsonObject& line) {
  const auto weight = [&line](const char* key) { return static_cast<float>(line.Number(key, {})); };
  const auto objective = NormalizedObjective(weight("throughput"), weight("latency"), weight("loss"));
  if (!objective) throw InputError("an objective's three weights must be above 0");
  return {*objective};
}

BitrateCommand ParseBitrate(JsonObject& line) {
  const int64_t min_bps = WholeNumber(line.Require("min_bps"), "min_bps", kMaxBitrateBps);
  const int64_t max_bps = WholeNumber(line.Require("max_bps"), "max_bps", kMaxBitrateBps);
  const json* const start = line.FindOptional("start_bps");
  const int64_t start_bps = start ? WholeNumber(*start, "start_bps", kMaxBitrateBps) : min_bps;
  const auto bitrate = MakeBitrate(min_bps, start_bps, max_bps);
  if (!bitrate) throw InputError(bitrate.error());
  return {bitrate.value(), start != nullptr};
}

ModelCommand ParseModel(JsonObject& line) {
  ModelCommand command{.path = Text(line, "path"), .member = "weir"};
  if (const json* member = line.FindOptional("member")) command.member = JsonString(*member, "member");
  if (!IsModelMember(command.member)) throw InputError("a member with a model is weir or weir:FILE");
  return command;
}

Command Parse(JsonObject line) {
  const std::string type = Text(line, "type");
  if (type == "start") return StartCommand{};
  if (type == "stats") return StatsCommand{};
  if (type == "stop") return StopCommand{};
  if (type == "offer" || type == "answer") return DescriptionCommand{type == "offer", Text(line, "sdp")};
  if (type == "candidate") return ParseCandidate(line);
  if (type == "objective") return ParseObjectiveLine(line);
  if (type == "bitrate") return ParseBitrate(line);
  if (type == "controller") {
    const auto mode = ParseReceiveSideMode(Text(line, "name"));
    if (!mode) throw InputError("a controller is " + ListNames(kCallControllers, " or "));
    return ControllerCommand{*mode};
  }
  if (type == "pool") {
    auto pool = ParsePool(Text(line, "line"));
    if (!pool) throw InputError(pool.error());
    return PoolCommand{std::move(pool.value())};
  }
  if (type == "model") return ParseModel(line);
  throw InputError("there is no type \"" + type.substr(0, 40) + "\"");
}

}  // namespace

Result<Command> ParseCommand(std::string_view text) {
  try {
    const json line = ParseJson(text);
    return Parse(JsonObject(line, ""));
  } catch (const InputError& fault) {
    return Error{std::string("standard input: ") + fault.what()};
  }
}

}  // namespace weir::peer
