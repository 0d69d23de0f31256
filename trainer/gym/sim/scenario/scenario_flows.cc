// The flows of a scenario file: RTP, TCP, constant bit rate.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "program/objective_input.h"
#include "scenario/scenario_parts.h"
#include "weir/pool_controller.h"
#include "weir/registry.h"

namespace weir::sim {
namespace {

constexpr NumberRange kPositiveRate{
    .min = 0, .max = static_cast<double>(CapacityTrace::kMaxRateBps), .min_excluded = true};

// A positive rate stays one.
DataRate Rate(double bps) { return DataRate::BitsPerSecond(std::max<int64_t>(std::llround(bps), 1)); }

DataRate ParseRate(JsonObject& object, std::string_view key, DataRate otherwise) {
  return Rate(object.Number(key, kPositiveRate, static_cast<double>(otherwise.bps())));
}

std::vector<std::pair<int64_t, int64_t>> ParsePauses(const nlohmann::json& value, const std::string& path) {
  std::vector<std::pair<int64_t, int64_t>> pauses;
  JsonArray(value, path, 0, SIZE_MAX);
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string pause_path = Element(path, i);
    const nlohmann::json& pause = JsonArray(value[i], pause_path, 2, 2);
    const int64_t from_ns = SecondsToNs(JsonNumber(pause[0], pause_path + "[0]", kTime));
    const int64_t to_ns = SecondsToNs(JsonNumber(pause[1], pause_path + "[1]", kTime));
    if (from_ns >= to_ns || (!pauses.empty() && from_ns < pauses.back().second)) {
      RefuseJson(pause_path, "must end after its start and follow the one before");
    }
    pauses.emplace_back(from_ns, to_ns);
  }
  return pauses;
}

MediaSpec ParseMedia(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  MediaSpec media;
  if (object.Choice("kind", {"filler", "video"}) == 0) {
    media.max_rate = ParseRate(object, "max_rate_bps", media.max_rate);
  } else {
    media.kind = MediaSpec::Kind::kVideo;
    media.max_rate = ParseRate(object, "max_rate_bps", kVideoMaxRate);
    constexpr NumberRange kFramesPerSecond{.min = 0, .max = 1000, .min_excluded = true};
    media.frames_per_second = object.Number("frames_per_second", kFramesPerSecond, media.frames_per_second);
    const double key_frame_interval_s = static_cast<double>(media.key_frame_interval_ns) * 1e-9;
    media.key_frame_interval_ns =
        SecondsToNs(object.Number("key_frame_interval_s", kPositiveTime, key_frame_interval_s));
    constexpr NumberRange kRate{.min = 0, .max = kPositiveRate.max};
    media.audio_rate = DataRate::BitsPerSecond(
        std::llround(object.Number("audio_rate_bps", kRate, static_cast<double>(media.audio_rate.bps()))));
    constexpr NumberRange kPacketsPerSecond{.min = 0.1, .max = 1000};
    media.audio_packets_per_second =
        object.Number("audio_packets_per_second", kPacketsPerSecond, media.audio_packets_per_second);
    if (const nlohmann::json* pauses = object.Find("video_pauses_s")) {
      media.video_pauses_ns = ParsePauses(*pauses, object.PathOf("video_pauses_s"));
    }
    constexpr NumberRange kShare{.min = 0, .max = 1, .min_excluded = true};
    media.minimum_output_share = object.Number("minimum_output_share", kShare, media.minimum_output_share);
    constexpr NumberRange kProbability{.min = 0, .max = 1};
    media.stall_probability = object.Number("stall_probability", kProbability, media.stall_probability);
    constexpr NumberRange kTimeConstant{.min = 0, .max = 60};
    media.rise_time_constant_s = object.Number("rise_time_constant_s", kTimeConstant, media.rise_time_constant_s);
    media.fall_time_constant_s = object.Number("fall_time_constant_s", kTimeConstant, media.fall_time_constant_s);
    media.initial_rate = DataRate::BitsPerSecond(std::llround(object.Number("initial_rate_bps", kRate, 0.0)));
  }
  object.RefuseUnknownKeys();
  return media;
}

RtpSpec ParseRtp(JsonObject& object) {
  RtpSpec rtp;
  const nlohmann::json* const controller = object.Find("controller");
  if (controller && controller->is_string() && IsPoolLine(controller->get_ref<const std::string&>())) {
    rtp.controller = controller->get<std::string>();
    if (const auto pool = ParsePool(rtp.controller); !pool) RefuseJson(object.PathOf("controller"), pool.error());
  } else if (controller) {
    std::vector<std::string_view> names{rtp.controller};
    names.insert(names.end(), kSimulatedControllers.begin(), kSimulatedControllers.end());
    rtp.controller = names[object.Choice("controller", names)];
  }
  if (const nlohmann::json* rate = object.FindOptional("fixed_rate_bps")) {
    rtp.fixed_rate = Rate(JsonNumber(*rate, object.PathOf("fixed_rate_bps"), kPositiveRate));
  }
  rtp.min_rate = ParseRate(object, "min_rate_bps", rtp.min_rate);
  rtp.start_rate = ParseRate(object, "start_rate_bps", rtp.start_rate);
  if (const nlohmann::json* objective = object.FindOptional("objective")) {
    rtp.objective = ParseObjective(*objective, object.PathOf("objective"), WeightSum::kOne);
  }
  if (const nlohmann::json* pauses = object.Find("pauses_s")) {
    rtp.pauses_ns = ParsePauses(*pauses, object.PathOf("pauses_s"));
  }
  rtp.sender_clock = ParseSenderClock(object);
  if (const nlohmann::json* media = object.Find("media")) rtp.media = ParseMedia(*media, object.PathOf("media"));
  if (rtp.start_rate < rtp.min_rate) {
    RefuseJson(object.PathOf("start_rate_bps"), "must be at least min_rate_bps (" + std::to_string(rtp.min_rate.bps()) +
                                                    "), not " + std::to_string(rtp.start_rate.bps()));
  }
  if (rtp.media.max_rate < rtp.min_rate) {
    RefuseJson(object.PathOf("media.max_rate_bps"), "must be at least min_rate_bps (" +
                                                        std::to_string(rtp.min_rate.bps()) + "), not " +
                                                        std::to_string(rtp.media.max_rate.bps()));
  }
  return rtp;
}

TcpTransfers ParseTransfers(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  const std::string bytes_path = object.PathOf("bytes");
  const nlohmann::json& bytes = JsonArray(object.Require("bytes"), bytes_path, 2, 2);
  // One transfer is a number of 32 bits for ns-3.
  constexpr NumberRange kBytes{.min = 1, .max = 1e9};
  TcpTransfers transfers;
  transfers.min_bytes = JsonInteger(bytes[0], bytes_path + "[0]", kBytes);
  transfers.max_bytes = JsonInteger(bytes[1], bytes_path + "[1]", kBytes);
  if (transfers.min_bytes > transfers.max_bytes) {
    RefuseJson(bytes_path, "the smallest size (" + std::to_string(transfers.min_bytes) + ") exceeds the largest (" +
                               std::to_string(transfers.max_bytes) + ")");
  }
  transfers.idle_mean_s = object.Number("idle_mean_s", kTime);
  transfers.start_on = object.Boolean("start_on", transfers.start_on);
  object.RefuseUnknownKeys();
  return transfers;
}

TcpCongestionControl ParseControl(const nlohmann::json& value, const std::string& path) {
  const auto found = std::ranges::find(kTcpCongestionControlNames, JsonString(value, path));
  if (found == kTcpCongestionControlNames.end()) {
    RefuseJson(path, ShownJson(value) + " is not allowed; use " + ListNames(kTcpCongestionControlNames, " or "));
  }
  return static_cast<TcpCongestionControl>(found - kTcpCongestionControlNames.begin());
}

// {"pilot": "bbr", "copilots": ["cubic"], "fusion": "max"}
void ParseFusedControls(const nlohmann::json& value, const std::string& path, TcpSpec& tcp) {
  JsonObject object(value, path);
  tcp.congestion_control = ParseControl(object.Require("pilot"), object.PathOf("pilot"));
  const std::string copilots_path = object.PathOf("copilots");
  const nlohmann::json& copilots = JsonArray(object.Require("copilots"), copilots_path, 1, kMaxCopilots);
  for (size_t i = 0; i < copilots.size(); ++i) {
    const TcpCongestionControl copilot = ParseControl(copilots[i], Element(copilots_path, i));
    if (copilot == tcp.congestion_control || std::ranges::find(tcp.copilots, copilot) != tcp.copilots.end()) {
      RefuseJson(path, std::string(ToString(copilot)) + " is there twice");
    }
    tcp.copilots.push_back(copilot);
  }
  // "closest" and "user" need more than a name.
  constexpr std::array kFusions{FusionKind::kPilotOnly, FusionKind::kMax, FusionKind::kMin, FusionKind::kMedian,
                                FusionKind::kMean};
  std::vector<std::string_view> names;
  names.reserve(kFusions.size());
  for (const FusionKind kind : kFusions) names.push_back(ToString(kind));
  tcp.fusion = kFusions[object.Choice("fusion", names)];
  tcp.hands_back = object.Boolean("hand_back", tcp.hands_back);
  object.RefuseUnknownKeys();
}

TcpSpec ParseTcp(JsonObject& object) {
  TcpSpec tcp;
  const nlohmann::json* const control = object.Find("congestion_control");
  if (control && control->is_object()) {
    ParseFusedControls(*control, object.PathOf("congestion_control"), tcp);
  } else if (control) {
    tcp.congestion_control = ParseControl(*control, object.PathOf("congestion_control"));
  }
  if (const nlohmann::json* transfers = object.FindOptional("transfers")) {
    tcp.transfers = ParseTransfers(*transfers, object.PathOf("transfers"));
  }
  return tcp;
}

CbrSpec ParseCbr(JsonObject& object) {
  CbrSpec cbr;
  cbr.rate = Rate(object.Number("rate_bps", kPositiveRate));
  cbr.packet_bytes = static_cast<uint32_t>(object.Integer("packet_bytes", {.min = 29, .max = 65535}, cbr.packet_bytes));
  return cbr;
}

struct FlowReader {
  std::string_view name;
  std::string_view default_id;
  // Whether it can have a path of its own to the bottleneck, `extra_one_way_delay_ms`.
  bool has_access_path;
  FlowKind (*parse)(JsonObject& object);
};

template <class Spec, Spec (*kParse)(JsonObject&)>
constexpr FlowReader ReaderOf(bool has_access_path) {
  return {Spec::kKind, Spec::kDefaultId, has_access_path,
          [](JsonObject& object) -> FlowKind { return kParse(object); }};
}

constexpr std::array kReaders{ReaderOf<RtpSpec, ParseRtp>(true), ReaderOf<TcpSpec, ParseTcp>(true),
                              ReaderOf<CbrSpec, ParseCbr>(false)};
static_assert(HaveSameNames(kReaders, kFlowKinds), "each kind of flow that is registered needs its reader");
static_assert(std::size(kReaders) == std::variant_size_v<FlowKind>);

const FlowReader& ReaderFor(JsonObject& object) {
  std::vector<std::string_view> names;
  for (const RegisteredFlowKind& kind : kFlowKinds) names.push_back(kind.name);
  return *FindRow(kReaders, names[object.Choice("kind", names)]);
}

}  // namespace

FlowSpec ParseFlow(const nlohmann::json& value, const std::string& path, int64_t duration_ns) {
  JsonObject object(value, path);
  FlowSpec flow;
  const FlowReader& reader = ReaderFor(object);
  flow.id = object.String("id", reader.default_id);
  if (flow.id.empty()) RefuseJson(object.PathOf("id"), "must not be empty");
  flow.direction =
      object.Choice("direction", {"forward", "reverse"}, 0) == 0 ? Direction::kForward : Direction::kReverse;
  flow.start_ns = SecondsToNs(object.Number("start_s", kTime, 0.0));
  flow.stop_ns = duration_ns;
  if (const nlohmann::json* stop = object.FindOptional("stop_s")) {
    const int64_t stop_ns = SecondsToNs(JsonNumber(*stop, object.PathOf("stop_s"), kPositiveTime));
    if (stop_ns <= flow.start_ns)
      RefuseJson(object.PathOf("stop_s"), "must be later than start_s, not " + ShownJson(*stop));
    flow.stop_ns = std::min(stop_ns, duration_ns);
  }
  if (reader.has_access_path) {
    flow.extra_one_way_delay_ns = MillisecondsToNs(object.Number("extra_one_way_delay_ms", kDelayMs, 0.0));
  }
  flow.kind = reader.parse(object);
  object.RefuseUnknownKeys();
  return flow;
}

}  // namespace weir::sim
