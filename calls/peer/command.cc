#include "command.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "call_controllers.h"
#include "options.h"
#include "programs/json.h"
#include "weir/controllers.h"
#include "weir/names.h"

namespace weir::peer {
namespace {

using nlohmann::json;

// Above the media sections of any call of weir-peer.
constexpr double kMaxMlineIndex = 255;
constexpr double kMaxBitrateBps = 1e15;

// Accepts any notation: a browser may write 5e6.
int64_t WholeNumber(const json& value, const std::string& key, double max) {
  const double number = JsonNumber(value, key, {.min = 0, .max = max});
  if (number != std::floor(number)) RefuseJson(key, "must be a whole number, not " + ShownJson(value));
  return static_cast<int64_t>(number);
}

std::string Text(JsonObject& line, const char* key) { return JsonString(line.Require(key), key); }

CandidateCommand ParseCandidate(JsonObject& line) {
  CandidateCommand command;
  // A browser sends null after its last candidate.
  if (const json* candidate = line.FindOptional("candidate")) command.candidate = JsonString(*candidate, "candidate");
  if (const json* mid = line.FindOptional("sdpMid")) command.sdp_mid = JsonString(*mid, "sdpMid");
  if (const json* index = line.FindOptional("sdpMLineIndex"))
    command.sdp_mline_index = static_cast<int>(WholeNumber(*index, "sdpMLineIndex", kMaxMlineIndex));
  return command;
}

ObjectiveCommand ParseObjectiveLine(JsonObject& line) {
  const auto weight = [&line](const char* key) { return static_cast<float>(line.Number(key, {})); };
  const auto objective = NormalizedObjective(weight("throughput"), weight("latency"), weight("loss"));
  if (!objective) throw ProgramError("an objective's three weights must be above 0");
  return {*objective};
}

BitrateCommand ParseBitrate(JsonObject& line) {
  const int64_t min_bps = WholeNumber(line.Require("min_bps"), "min_bps", kMaxBitrateBps);
  const int64_t max_bps = WholeNumber(line.Require("max_bps"), "max_bps", kMaxBitrateBps);
  const json* const start = line.FindOptional("start_bps");
  const int64_t start_bps = start ? WholeNumber(*start, "start_bps", kMaxBitrateBps) : min_bps;
  return {MakeBitrate(min_bps, start_bps, max_bps), start != nullptr};
}

ModelCommand ParseModel(JsonObject& line) {
  ModelCommand command{.path = Text(line, "path"), .member = "weir"};
  if (const json* member = line.FindOptional("member")) command.member = JsonString(*member, "member");
  if (!IsModelName(command.member)) throw ProgramError("a member with a model is weir or weir:FILE");
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
    if (!mode) throw ProgramError("a controller is " + ListNames(kCallControllers, " or "));
    return ControllerCommand{*mode};
  }
  if (type == "pool") return PoolCommand{OrThrow(ParsePool(Text(line, "line")))};
  if (type == "model") return ParseModel(line);
  throw ProgramError("there is no type \"" + type.substr(0, 40) + "\"");
}

}  // namespace

Result<Command> ParseCommand(std::string_view text) {
  try {
    const json line = ParseJson(text);
    return Parse(JsonObject(line, ""));
  } catch (const ProgramError& fault) {
    return Error{std::string("standard input: ") + fault.what()};
  }
}

LineReader::Event LineReader::Next(std::string& line) {
  std::array<char, 65536> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills what is used
  while (true) {
    switch (end_of_file_ ? buffer_.TakeLast(line) : buffer_.Take(line)) {
      case LineBuffer::Next::kLine:
        return Event::kLine;
      case LineBuffer::Next::kTooLong:
        return Event::kTooLong;
      case LineBuffer::Next::kNothing:
        if (end_of_file_) return Event::kEndOfFile;
    }
    std::array<pollfd, 2> fds{
        {{.fd = wake_fd_, .events = POLLIN, .revents = 0}, {.fd = fd_, .events = POLLIN, .revents = 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Event::kEndOfFile;
    }
    if (fds[0].revents != 0) return Event::kWoken;
    const ssize_t size = read(fd_, chunk.data(), chunk.size());
    if (size > 0) {
      buffer_.Append({chunk.data(), static_cast<size_t>(size)});
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
      end_of_file_ = true;
    }
  }
}

}  // namespace weir::peer
