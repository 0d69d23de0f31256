#include "lines/options.h"

#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "weir/registry/controllers.h"
#include "weir/registry/names.h"

namespace weir::peer {

std::string Usage() {
  return R"(usage: weir-peer --role send|receive|both [OPTION...]   one end of a WebRTC call, without a screen
       weir-peer --version                             versions of its parts, as JSON

Signalling, statistics and estimates are JSON lines on standard input and output; logs go to standard error.

options:
  --controller NAME        )" +
         ListNames(kCallControllers, " or ") + R"( (GCC in charge, Weir logged); default weir
  --model FILE             the policy (ONNX); without it the ten-line rule
  --own-controller JSON    a controller of one's own in the policy's place: {"name":...,"kind":"program",
                           "command":[...]} or {"name":...,"kind":"library","library":PATH}; "time_limit_s"
  --objective T,L,P        weights of throughput, latency and loss, or )" +
         ListNames(kObjectivePresets) + R"(
  --min-bitrate-bps N, --start-bitrate-bps N, --max-bitrate-bps N
                           default 30000, 300000, 20000000
  --codec NAME             VP8, VP9 or H264; default VP8
  --video FILE.y4m         what to send, in a loop
  --pattern WxH@FPS        or a generated picture; default 640x360@30
  --audio                  send and receive audio too
  --frames FILE.y4m        write received frames, with an index in FILE.y4m.jsonl
  --frames-size WxH        the size they are scaled to
  --estimates FILE.jsonl   estimates into a file instead of standard output
  --stats-interval-ms N    100 to 60000; default 1000
  --bind-address A         the IPv4 address of this end; default 127.0.0.1

exit status: 0 stopped when told to, 1 failed, 2 wrong use, 3 a component is missing
)";
}

namespace {

constexpr int64_t kMinBitrateBps = 1'000;
constexpr int64_t kMaxBitrateBps = 1'000'000'000;

std::optional<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < min || value > max) return std::nullopt;
  return value;
}

// "640x360"; sizes even, as 4:2:0 wants them.
bool ParseSize(std::string_view text, int& width, int& height) {
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) return false;
  const auto w = ParseInteger(text.substr(0, cross), 2, kMaxFrameSize);
  const auto h = ParseInteger(text.substr(cross + 1), 2, kMaxFrameSize);
  if (!w || !h || *w % 2 != 0 || *h % 2 != 0) return false;
  width = static_cast<int>(*w);
  height = static_cast<int>(*h);
  return true;
}

bool ParsePattern(std::string_view text, FrameFormat& format) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos || !ParseSize(text.substr(0, at), format.width, format.height)) return false;
  const auto rate = ParseInteger(text.substr(at + 1), 1, static_cast<int64_t>(kMaxFramesPerSecond));
  if (rate) format.frames_per_second = static_cast<double>(*rate);
  return rate.has_value();
}

bool ParseRole(std::string_view text, Options& options) {
  options.send = text == "send" || text == "both";
  options.receive = text == "receive" || text == "both";
  return options.send || options.receive;
}

bool ParseOwnController(const std::string& text, Options& options) {
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) return false;
  const auto name = value["name"].get<std::string>();
  value.erase("name");
  auto specification = external::ParseSpecification(value, name);
  if (specification) options.own_controller = std::move(specification.value());
  return specification.ok();
}

template <class T>
bool Assign(const std::optional<T>& value, T& to) {
  if (value) to = *value;
  return value.has_value();
}

struct Setting {
  // What a value must be, for the message.
  std::string expected;
  // False when it is not.
  std::function<bool(const std::string& value)> set;
};

}  // namespace

Result<Objective> ParseObjective(std::string_view text) {
  if (const auto preset = ObjectivePreset(text)) return *preset;
  float weights[3] = {};
  char rest = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%f,%f,%f%c", &weights[0], &weights[1], &weights[2], &rest) == 3) {
    if (const auto objective = NormalizedObjective(weights[0], weights[1], weights[2])) return *objective;
  }
  return Error{"an objective is " + ListNames(kObjectivePresets) + ", or three weights above 0 such as 0.4,0.5,0.1"};
}

Result<TargetRateConstraints> MakeBitrate(int64_t min_bps, int64_t start_bps, int64_t max_bps) {
  if (min_bps < kMinBitrateBps || max_bps > kMaxBitrateBps || min_bps > start_bps || start_bps > max_bps)
    return Error{"bitrates must be 1000 <= min <= start <= max <= 1000000000 bit/s"};
  return TargetRateConstraints{.min_rate = DataRate::BitsPerSecond(min_bps),
                               .start_rate = DataRate::BitsPerSecond(start_bps),
                               .max_rate = DataRate::BitsPerSecond(max_bps)};
}

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  int64_t min_bps = options.bitrate.min_rate.bps();
  int64_t start_bps = options.bitrate.start_rate.bps();
  int64_t max_bps = options.bitrate.max_rate.bps();

  const auto bitrate = [](int64_t& bps) -> Setting {
    return {"a number of bits per second, 1000 to 1000000000",
            [&bps](const auto& value) { return Assign(ParseInteger(value, kMinBitrateBps, kMaxBitrateBps), bps); }};
  };
  const auto text = [](std::string& to) -> Setting {
    return {"a path", [&to](const auto& value) { return to = value, !value.empty(); }};
  };
  const std::map<std::string, Setting> settings = {
      {"--role", {"send, receive or both", [&](const auto& value) { return ParseRole(value, options); }}},
      {"--controller",
       {ListNames(kCallControllers, " or "),
        [&](const auto& v) { return Assign(ParseReceiveSideMode(v), options.controller); }}},
      {"--model", text(options.model)},
      {"--own-controller",
       {"a JSON object with name, kind, and command or library",
        [&](const auto& value) { return ParseOwnController(value, options); }}},
      {"--objective",
       {ListNames(kObjectivePresets) + ", or three weights above 0",
        [&](const auto& value) {
          const auto objective = ParseObjective(value);
          if (objective) options.objective = objective.value();
          return objective.ok();
        }}},
      {"--min-bitrate-bps", bitrate(min_bps)},
      {"--start-bitrate-bps", bitrate(start_bps)},
      {"--max-bitrate-bps", bitrate(max_bps)},
      {"--codec",
       {"VP8, VP9 or H264", [&](const auto& v) { return options.codec = v, v == "VP8" || v == "VP9" || v == "H264"; }}},
      {"--video", text(options.video)},
      {"--pattern",
       {"WIDTHxHEIGHT@RATE, even sizes up to 4096, 1 to 120 frames per second",
        [&](const auto& value) { return ParsePattern(value, options.pattern); }}},
      {"--frames", text(options.frames)},
      {"--frames-size",
       {"WIDTHxHEIGHT, even numbers up to 4096",
        [&](const auto& v) { return ParseSize(v, options.frames_width, options.frames_height); }}},
      {"--estimates", text(options.estimates)},
      {"--stats-interval-ms",
       {"100 to 60000", [&](const auto& v) { return Assign(ParseInteger(v, 100, 60000), options.stats_interval_ms); }}},
      {"--bind-address", text(options.bind_address)},
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--audio") {
      options.audio = true;
      continue;
    }
    const auto setting = settings.find(name);
    if (setting == settings.end()) return Error{"there is no option " + name + "; see weir-peer --help"};
    if (++i == arguments.size()) return Error{name + " needs a value"};
    if (!setting->second.set(arguments[i]))
      return Error{name + " " + arguments[i] + ": must be " + setting->second.expected};
  }
  if (!options.send && !options.receive) return Error{"--role is missing: send, receive or both"};
  if (options.frames.empty() != (options.frames_width == 0)) return Error{"--frames and --frames-size belong together"};
  if (!options.frames.empty() && !options.receive) return Error{"--frames is for a role that receives"};
  const auto constraints = MakeBitrate(min_bps, start_bps, max_bps);
  if (!constraints) return Error{constraints.error()};
  options.bitrate = constraints.value();
  return options;
}

}  // namespace weir::peer
