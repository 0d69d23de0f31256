#include "options.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "call_controllers.h"
#include "programs/command_line.h"
#include "programs/json.h"
#include "weir/interval_statistics_fields.h"
#include "weir/names.h"

namespace weir::peer {
namespace {

constexpr int64_t kMinBitrateBps = 1'000;
constexpr int64_t kMaxBitrateBps = 1'000'000'000;

// Rejects NaN, which fails the comparison.
template <class Number>
bool ParseNumber(std::string_view text, Number min, Number max, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [read_end, fault] = std::from_chars(text.data(), end, value);
  return fault == std::errc() && read_end == end && value >= min && value <= max;
}

// Parses "640x360"; 4:2:0 requires even sizes.
bool ParseSize(std::string_view text, int& width, int& height) {
  const size_t cross = text.find('x');
  return cross != std::string_view::npos && ParseNumber(text.substr(0, cross), 2, kMaxFrameSize, width) &&
         ParseNumber(text.substr(cross + 1), 2, kMaxFrameSize, height) && width % 2 == 0 && height % 2 == 0;
}

bool ParsePattern(std::string_view text, FrameFormat& format) {
  const size_t at = text.find('@');
  int rate = 0;
  if (at == std::string_view::npos || !ParseSize(text.substr(0, at), format.width, format.height) ||
      !ParseNumber(text.substr(at + 1), 1, static_cast<int>(kMaxFramesPerSecond), rate))
    return false;
  format.frames_per_second = rate;
  return true;
}

bool ParseRole(std::string_view text, Options& options) {
  options.send = text == "send";
  options.receive = text == "receive";
  return options.send || options.receive;
}

CustomControllerSpecification ParseCustomController(const std::string& text) {
  const std::string path = "--custom-controller";
  nlohmann::json value = ParseJson(text, path);
  const std::string name = JsonObject(value, path).String("name");
  value.erase("name");
  return ParseCustomControllerSpecification(value, path, name);
}

}  // namespace

TargetRateConstraints MakeBitrate(int64_t min_bps, int64_t start_bps, int64_t max_bps) {
  if (min_bps < kMinBitrateBps || max_bps > kMaxBitrateBps || min_bps > start_bps || start_bps > max_bps)
    throw ProgramError("bitrates must be 1000 <= min <= start <= max <= 1000000000 bit/s");
  return {.min_rate = DataRate::BitsPerSecond(min_bps),
          .start_rate = DataRate::BitsPerSecond(start_bps),
          .max_rate = DataRate::BitsPerSecond(max_bps)};
}

void AddOptions(CLI::App& app, Options& options) {
  AddOption(app, "--role", "ROLE", "send or receive", "send or receive", [&](const auto& value) {
    return ParseRole(value, options);
  })->required();
  const std::string controllers =
      ListNames(kCallControllers) + "; at the sender " + ListNames(kSenderControllers, " or ");
  AddOption(app, "--controller", "NAME",
            controllers +
                ";\ndefault weir; shadow: GCC in charge, Weir logged;\n"
                "or a pool: \"pilot=weir copilots=nada,rule fusion=min policy=by_trust\"",
            controllers + ", or a pool", [&](const auto& value) {
              options.pool.reset();
              options.at_sender = {};
              if (IsPoolLine(value)) {
                const std::string about = "--controller: ";
                options.pool = OrThrow(SplitPool(OrThrow(ParsePool(value), about)), about);
                options.controller = ReceiveSideMode::kWeir;
                return true;
              }
              if (const auto* const name = FindRow(kSenderControllers, value)) {
                options.at_sender = *name;
                options.controller = ReceiveSideMode::kGcc;
                return true;
              }
              const auto mode = ParseReceiveSideMode(value);
              options.controller = mode.value_or(options.controller);
              return mode.has_value();
            });
  app.add_flag("--remb-alone", options.remb_alone,
               "with Weir at the receiver: the answer excludes transport-cc\n(docs/remb.md)");
  app.add_flag("--limit-playout", options.limit_playout,
               "a receiver holds video for at most 150 ms, and audio for less\n(docs/virtual_calls.md)");
  AddOption(
      app, "--repair", "MODE",
      "with Weir at one end, repair of losses: adaptive, nack (never FEC) or\nfec (libwebrtc's own choice); default "
      "adaptive",
      "adaptive, nack or fec", [&](const auto& value) {
        constexpr std::array<std::string_view, 3> kModes{"adaptive", "nack", "fec"};
        const auto* const mode = FindRow(kModes, value);
        if (mode != nullptr) options.repair = static_cast<RepairMode>(mode - kModes.data());
        return mode != nullptr;
      });
  AddText(app, "--model", "FILE", "the policy (ONNX); without it the ten-line rule", options.model);
  AddOption(app, "--decision-delay-ms", "MS", "answers of the policy are used so much later; default 0",
            "a number, 0 to 10000", [&](const auto& value) {
              double ms = 0;
              if (!ParseNumber(value, 0.0, static_cast<double>(kMaxDecisionInterval.ms()), ms)) return false;
              options.decision_delay = TimeDelta::SecondsF(ms / 1000);
              return true;
            });
  AddOption(app, "--custom-controller", "JSON",
            "a custom controller in place of the policy: {\"name\":...,\"kind\":\"program\",\n"
            "\"command\":[...]} or {\"name\":...,\"kind\":\"library\",\"library\":PATH}; \"time_limit_s\"",
            "a JSON object", [&](const auto& value) {
              options.custom_controller = ParseCustomController(value);
              return true;
            });
  AddOption(app, "--field-trials", "TRIALS", "of libwebrtc: TRIAL/GROUP/ each", "a list of TRIAL/GROUP/",
            [&](const auto& value) {
              options.field_trials = OrThrow(ParseFieldTrials(value), "--field-trials: ");
              return true;
            });
  AddObjective(app, [&](const Objective& objective) { options.objective = objective; });
  const auto add_bitrate = [&app](const char* name, const char* description, DataRate& rate) {
    AddOption(app, name, "N", description, "a whole number, 1000 to 1000000000", [&rate](const auto& value) {
      int64_t bps = 0;
      const bool valid = ParseNumber(value, kMinBitrateBps, kMaxBitrateBps, bps);
      if (valid) rate = DataRate::BitsPerSecond(bps);
      return valid;
    });
  };
  add_bitrate("--min-bitrate-bps", "default 30000", options.bitrate.min_rate);
  add_bitrate("--start-bitrate-bps", "default 300000", options.bitrate.start_rate);
  add_bitrate("--max-bitrate-bps", "default 20000000", options.bitrate.max_rate);
  app.add_option("--codec", options.codec, "default VP8")->check(CLI::IsMember({"VP8", "VP9"}));
  AddText(app, "--video", "FILE.y4m", "what to send, in a loop", options.video);
  AddOption(app, "--pattern", "WxH@FPS", "or a generated picture; default 640x360@30",
            "WIDTHxHEIGHT@RATE, even sizes up to 4096, 1 to 120 frames per second",
            [&](const auto& value) { return ParsePattern(value, options.pattern); });
  app.add_flag("--audio", options.audio, "send and receive audio too");
  AddText(app, "--audio-file", "FILE.wav", "what to send, in a loop: 16-bit mono at 48000 Hz", options.audio_file);
  AddText(app, "--received-audio", "FILE.wav", "write the audio that is played, at most 10 minutes",
          options.received_audio);
  CLI::Option* const frames =
      AddText(app, "--frames", "FILE.y4m", "write received frames, with an index in FILE.y4m.jsonl", options.frames);
  CLI::Option* const frames_size =
      AddOption(app, "--frames-size", "WxH", "the size they are scaled to", "WIDTHxHEIGHT, even numbers up to 4096",
                [&](const auto& value) { return ParseSize(value, options.frames_width, options.frames_height); });
  frames->needs(frames_size);
  frames_size->needs(frames);
  AddInteger(app, "--stats-interval-ms", "100 to 60000; default 1000", options.stats_interval_ms, int64_t{100},
             int64_t{60'000});
  AddText(app, "--bind-address", "A", "the IPv4 address of this end; default 127.0.0.1", options.bind_address);
  app.callback([&options] {
    if (options.decision_delay > TimeDelta::Zero() && options.model.empty() && !options.pool)
      throw ProgramError("--decision-delay-ms is for a policy; give --model");
    if (options.pool && options.custom_controller) throw ProgramError("--custom-controller cannot be in a pool");
    if (!options.at_sender.empty() && options.receive)
      throw ProgramError("--controller " + std::string(options.at_sender) + " is for --role send");
    if (!options.frames.empty() && !options.receive) throw ProgramError("--frames is for a role that receives");
    const TargetRateConstraints& bitrate = options.bitrate;
    options.bitrate = MakeBitrate(bitrate.min_rate.bps(), bitrate.start_rate.bps(), bitrate.max_rate.bps());
  });
}

}  // namespace weir::peer
