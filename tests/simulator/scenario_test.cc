#include "scenario/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nanoseconds.h"
#include "test_scenarios.h"
#include "whole_scenario.h"

namespace weir::sim {
namespace {

json Minimal() {
  return json::parse(R"({"schema": "weir.scenario/1", "name": "minimal", "duration_s": 10.0,
      "forward": {"capacity": {"times_s": [0.0], "rates_bps": [1000000]}}, "flows": [{"kind": "rtp"}]})");
}

std::string ErrorOf(const json& document) {
  try {
    ParseScenario(WholeScenario(document));
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

// The minimal scenario with one value set.
json With(const std::string& pointer, const json& value) {
  json document = Minimal();
  document[json::json_pointer(pointer)] = value;
  return document;
}

std::vector<std::filesystem::path> FilesIn(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(WEIR_SOURCE_DIR) + folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

// Discarded where the file is no JSON.
json Read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return json::parse(stream, nullptr, /*allow_exceptions=*/false);
}

TEST(ScenarioTest, EveryValueArrives) {
  const Scenario scenario = ParseScenario(WholeScenario(json::parse(R"({
    "schema": "weir.scenario/1", "name": "all", "description": "d", "provenance": {"source": "s"}, "duration_s": 60.0,
    "forward": {"capacity": {"times_s": [0.0, 10.0], "rates_bps": [2500000, 1000000.4], "period_s": 60.0},
                "one_way_delay_ms": 12.5, "queue": {"bytes": 9000}, "queue_discipline": "codel",
                "loss": {"kind": "gilbert_elliott",
                         "good_to_bad": 0.1, "bad_to_good": 0.2, "loss_good": 0.3, "loss_bad": 0.4},
                "jitter": {"kind": "truncated_gaussian",
                           "standard_deviation_ms": 1.5, "maximum_ms": 4, "reorder": true}},
    "reverse": {"capacity": {"times_s": [0], "rates_bps": [5e5]}, "queue": {"packets": 7},
                "loss": {"kind": "bernoulli", "ratio": 0.25}},
    "flows": [
      {"kind": "rtp", "id": "a", "controller": "gcc-remb", "direction": "reverse", "start_s": 1, "stop_s": 50,
       "pauses_s": [[4.0, 6.0], [6.0, 7.5]], "extra_one_way_delay_ms": 3.5,
       "sender_clock_ppm": -12.5, "sender_clock_offset_s": 63.5, "min_rate_bps": 50000, "start_rate_bps": 400000, "fixed_rate_bps": 123456, "objective": [0.8, 0.1, 0.1],
       "media": {"kind": "video", "frames_per_second": 25, "key_frame_interval_s": 4, "audio_rate_bps": 0,
                 "audio_packets_per_second": 2.5, "video_pauses_s": [[1, 2.5], [3, 4]]}},
      {"kind": "tcp", "id": "b", "congestion_control": "bbr", "stop_s": 1000,
       "transfers": {"bytes": [30000, 50000], "idle_mean_s": 10.0, "start_on": false}},
      {"kind": "cbr", "rate_bps": 500000, "packet_bytes": 600, "start_s": 10.0, "stop_s": 20.0}]})")));
  EXPECT_EQ(scenario.forward.capacity->RateAt(70 * kSecond), 1'000'000);
  EXPECT_EQ(scenario.forward.one_way_delay, SimDuration::Micros(12'500));
  EXPECT_EQ(QueueLimit(scenario.forward, scenario.duration), 9000);
  EXPECT_EQ(scenario.forward.queue_discipline, QueueDiscipline::kCodel);
  EXPECT_EQ(scenario.forward.loss.good_to_bad, 0.1);
  EXPECT_EQ(scenario.forward.loss.bad_to_good, 0.2);
  EXPECT_EQ(scenario.forward.loss.loss_good, 0.3);
  EXPECT_EQ(scenario.forward.loss.loss_bad, 0.4);
  EXPECT_EQ(scenario.forward.jitter.standard_deviation, Ns(1'500'000));
  EXPECT_EQ(scenario.forward.jitter.maximum, 4 * kMs);
  EXPECT_TRUE(scenario.forward.jitter.reorder);
  EXPECT_EQ(scenario.reverse.capacity->RateAt(kTimeZero), 500'000);
  EXPECT_EQ(QueueLimit(scenario.reverse, scenario.duration), 7);
  EXPECT_EQ(scenario.reverse.loss.ratio, 0.25);

  const RtpSpec& rtp = std::get<RtpSpec>(scenario.flows[0].kind);
  EXPECT_EQ(scenario.flows[0].direction, Direction::kReverse);
  EXPECT_EQ(scenario.flows[0].extra_one_way_delay, Ns(3'500'000));
  EXPECT_EQ(scenario.flows[0].stop, 50 * kSecond);
  EXPECT_EQ(rtp.controller, "gcc-remb");
  EXPECT_EQ(rtp.fixed_rate, DataRate::BitsPerSecond(123'456));
  EXPECT_EQ(rtp.objective, kThroughput);
  EXPECT_EQ(rtp.sender_clock.ppm, -12.5);
  EXPECT_EQ(rtp.sender_clock.offset, 63'500 * kMs);
  const std::vector<std::pair<SimTime, SimTime>> pauses{{4 * kSecond, 6 * kSecond}, {6 * kSecond, 7'500 * kMs}};
  EXPECT_EQ(rtp.pauses, pauses);
  EXPECT_EQ(rtp.media.kind, MediaSpec::Kind::kVideo);
  EXPECT_EQ(rtp.media.max_rate.bps(), 2'500'000);
  EXPECT_EQ(rtp.media.frames_per_second, 25.0);
  EXPECT_EQ(rtp.media.key_frame_interval, 4 * kSecond);
  EXPECT_EQ(rtp.media.audio_rate.bps(), 0);
  EXPECT_EQ(rtp.media.audio_packets_per_second, 2.5);
  const std::vector<std::pair<SimTime, SimTime>> video_pauses{{kSecond, 2'500 * kMs}, {3 * kSecond, 4 * kSecond}};
  EXPECT_EQ(rtp.media.video_pauses, video_pauses);

  const TcpSpec& tcp = std::get<TcpSpec>(scenario.flows[1].kind);
  EXPECT_EQ(scenario.flows[1].stop, 60 * kSecond);
  EXPECT_EQ(tcp.congestion_control, TcpCongestionControl::kBbr);
  ASSERT_TRUE(tcp.transfers);
  EXPECT_EQ(tcp.transfers->min_bytes, 30'000);
  EXPECT_EQ(tcp.transfers->max_bytes, 50'000);
  EXPECT_FALSE(tcp.transfers->start_on);

  const CbrSpec& cbr = std::get<CbrSpec>(scenario.flows[2].kind);
  EXPECT_EQ(scenario.flows[2].id, "cross");
  EXPECT_EQ(cbr.rate.bps(), 500'000);
  EXPECT_EQ(cbr.packet_bytes, 600u);
}

TEST(ScenarioTest, RefusesWhatNoSimulationCouldRun) {
  struct Case {
    json document;
    const char* message;
  };
  const auto with_capacity = [](const json& times, const json& rates) {
    return With("/forward/capacity", {{"times_s", times}, {"rates_bps", rates}});
  };
  const auto with_delays = [](const json& times, const json& values, const json& period) {
    return With("/forward/one_way_delay_ms", {{"times_s", times}, {"values_ms", values}, {"period_s", period}});
  };
  const auto with_tcp = [](json tcp) {
    tcp["kind"] = "tcp";
    return With("/flows/0", tcp);
  };
  json endless = with_tcp(json::object());
  endless["forward"]["capacity"] = nullptr;
  const Case cases[] = {
      {json::array(), "must be a JSON object"},
      {With("/schema", "weir.scenario/2"), "schema: \"weir.scenario/2\" is not allowed; use \"weir.scenario/1\""},
      {With("/name", 5), "name: must be a string, not 5"},
      {With("/duration_s", 0), "duration_s: must be greater than 0, not 0"},
      {With("/duration_s", true), "duration_s: must be a number, not true"},
      {With("/duration_s", 1e9), "duration_s: must be at most 86400"},
      {With("/forward", nullptr), "forward: must be a JSON object, not null"},
      {with_capacity({0}, {-1}), "forward.capacity.rates_bps: must be at least 0, not -1"},
      {with_capacity({0}, {2e10}), "forward.capacity.rates_bps: must be at most 10000000000"},
      {with_capacity({0}, {"1"}), "forward.capacity.rates_bps: must be a number, not \"1\""},
      {with_capacity({0, 1}, {1}), "forward.capacity.rates_bps: needs at least 2 value(s)"},
      {with_capacity({0}, {1, 2}), "forward.capacity.rates_bps: takes at most 1 value(s)"},
      {with_capacity({1}, {1}), "forward.capacity.times_s: the first time must be 0"},
      {with_capacity({0, 2, 2}, {1, 1, 1}), "forward.capacity.times_s: each time must be later"},
      {with_capacity(json::array(), json::array()), "forward.capacity.times_s: needs at least 1"},
      {With("/forward/capacity/period_s", 0), "forward.capacity.period_s: must be later than the last time"},
      {With("/forward/one_way_delay_ms", -1), "forward.one_way_delay_ms: must be at least 0, not -1"},
      {With("/forward/one_way_delay_ms", 2e9), "forward.one_way_delay_ms: must be at most 1000000000"},
      {with_delays({0, 1}, {20, -1}, nullptr), "forward.one_way_delay_ms.values_ms: must be at least 0, not -1"},
      {with_delays({0, 1}, {20, 30}, 1), "forward.one_way_delay_ms.period_s: must be later than the last time"},
      {With("/forward/queue", json::object()), "forward.queue.milliseconds, bytes or packets: is missing"},
      {With("/forward/queue", {{"bytes", -1}}), "forward.queue.bytes: must be at least 0, not -1"},
      {With("/forward/queue_discipline", "red"),
       R"(forward.queue_discipline: "red" is not allowed; use "drop_tail", "codel" or "dualpi2")"},
      {With("/forward/loss", {{"ratio", 0.1}}), "forward.loss.kind: is missing"},
      {With("/forward/loss", {{"kind", "bernoulli"}, {"ratio", -0.1}}), "forward.loss.ratio: must be at least 0"},
      {With("/forward/loss", {{"kind", "gilbert_elliott"}}), "forward.loss.good_to_bad: is missing"},
      {With("/forward/loss", {{"kind", "policer"}, {"rate_bps", 1}, {"burst_bytes", 2e9}}),
       "forward.loss.burst_bytes: must be a whole number"},
      {With("/forward/loss", {{"kind", "policer"}, {"rate_bps", 1}, {"burst_bytes", 2'000'000'000}}),
       "forward.loss.burst_bytes: must be at most 1000000000"},
      {With("/forward/jitter", {{"kind", "slotted"}, {"interval_ms", 0}}),
       "forward.jitter.interval_ms: must be at least 0.1, not 0"},
      {With("/forward/jitter", {{"kind", "spikes"}, {"gap_mean_s", 0}, {"shortest_ms", 1}, {"longest_ms", 2}}),
       "forward.jitter.gap_mean_s: must be at least 0.1, not 0"},
      {With("/forward/jitter", {{"kind", "spikes"}, {"gap_mean_s", 1}, {"shortest_ms", 3}, {"longest_ms", 2}}),
       "forward.jitter.longest_ms: must be at least shortest_ms"},
      {With("/forward/jitter", {{"kind", "truncated_gaussian"}, {"standard_deviation_ms", 1}}),
       "forward.jitter.maximum_ms: is missing"},
      {With("/reverse", nullptr), "reverse: must be a JSON object, not null"},
      {With("/flows", json::array()), "flows: needs at least 1"},
      {With("/flows/0", {{"kind", "udp"}}), R"(flows[0].kind: "udp" is not allowed; use "rtp", "tcp" or "cbr")"},
      {With("/flows/0/start_s", -1), "flows[0].start_s: must be at least 0"},
      {With("/flows/0/sender_clock_ppm", 5001), "flows[0].sender_clock_ppm: must be at most 5000"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1, 2}}, {"steps_ms", {5}}}),
       "flows[0].sender_clock_steps.steps_ms: needs at least 2"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1, 1}}, {"steps_ms", {5, 6}}}),
       "flows[0].sender_clock_steps.times_s: each time must be later"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1}}, {"steps_ms", {1.1e6}}}),
       "flows[0].sender_clock_steps.steps_ms: must be at most 1000000"},
      {With("/flows/0/sender_clock_offset_s", -1), "flows[0].sender_clock_offset_s: must be at least 0"},
      {With("/flows/0/min_rate_bps", 400'000), "flows[0].min_rate_bps: must be at most start_rate_bps and media"},
      {With("/flows/0/media", {{"kind", "filler"}, {"max_rate_bps", 1000}}),
       "flows[0].min_rate_bps: must be at most start_rate_bps and media"},
      {With("/flows/0/media", {{"kind", "video"}, {"frames_per_second", 0}}),
       "flows[0].media.frames_per_second: must be at least 0.1, not 0"},
      {With("/flows/0/media", {{"kind", "video"}, {"audio_packets_per_second", 1001}}),
       "flows[0].media.audio_packets_per_second: must be at most 1000"},
      {With("/flows/0/objective", {0.5, 0.5}), "flows[0].objective: needs at least 3"},
      {With("/flows/0/objective", {0.5, 0.5, 0.0}), "flows[0].objective[2]: must be greater than 0"},
      {With("/flows/0/pauses_s", {{2, 1}}), "flows[0].pauses_s: each time must be later"},
      {With("/flows/0/pauses_s", {{1, 3}, {2, 4}}), "flows[0].pauses_s: each must follow the one before it"},
      {With("/flows/0/pauses_s", {{1, 2, 3}}), "flows[0].pauses_s: takes at most 2"},
      {With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", {{2, 1}, {3, 4}}}}),
       "flows[0].media.video_pauses_s: each time must be later"},
      {with_tcp({{"congestion_control", "quick"}}), "flows[0].congestion_control: \"quick\" is not allowed"},
      {with_tcp({{"congestion_control", {{"pilot", "bbr"}, {"copilots", {"quick"}}, {"fusion", "min"}}}}),
       "flows[0].congestion_control.copilots: \"quick\" is not allowed"},
      {with_tcp({{"congestion_control",
                  {{"pilot", "bbr"}, {"copilots", std::vector<std::string>(8, "copa")}, {"fusion", "min"}}}}),
       "flows[0].congestion_control.copilots: takes at most 7"},
      {with_tcp({{"congestion_control", {{"pilot", "bbr"}, {"copilots", {"copa"}}, {"fusion", "user"}}}}),
       "flows[0].congestion_control.fusion: \"user\" is not allowed"},
      {with_tcp({{"transfers", {{"bytes", {5, 4}}, {"idle_mean_s", 1}}}}),
       "flows[0].transfers.bytes: the first must not be above the second"},
      {with_tcp({{"transfers", {{"bytes", {0, 4}}, {"idle_mean_s", 1}}}}),
       "flows[0].transfers.bytes: must be at least 1"},
      {endless, "flows[0].transfers: an endless TCP transfer grows for ever"},
      {With("/flows/0", {{"kind", "cbr"}}), "flows[0].rate_bps: is missing"},
      {With("/flows/0", {{"kind", "cbr"}, {"rate_bps", 1}, {"packet_bytes", 28}}),
       "flows[0].packet_bytes: must be at least 29, not 28"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(ErrorOf(c.document).starts_with(c.message))
        << "got:      " << ErrorOf(c.document) << "\nexpected: " << c.message;
  }
}

// Runs the scenario, shortened. True unless it is refused.
bool Runs(json document) {
  try {
    document["duration_s"] = 0.5;
    RunScenario(document, "rule");
  } catch (const ProgramError&) {
    return false;
  }
  return true;
}

TEST(ScenarioTest, WhatOnlyTheSchemaRefusesDoesNoHarm) {
  const json video{{"kind", "video"}, {"stall_probability", 1e-300}, {"rise_time_constant_s", 1e300}};
  const json capacity{{"times_s", {0}}, {"rates_bps", {0}}};
  const json documents[] = {
      With("/seed", 1),
      With("/provenance", {{"source", 1}}),
      With("/forward/colour", "red"),
      With("/forward/queue", {{"bytes", 1.5}, {"packets", 1}}),
      With("/forward/queue", {{"packets", 0}}),
      With("/forward/queue", {{"milliseconds", 0}}),
      With("/forward/loss", {{"kind", "bernoulli"}, {"ratio", 1e300}}),
      With("/forward/loss", {{"kind", "policer"}, {"rate_bps", 0}, {"burst_bytes", 0}}),
      With("/forward/capacity", capacity),
      With("/flows/1", {{"kind", "rtp"}}),  // the same id
      With("/flows/0", {{"kind", "rtp"}, {"start_s", 0.4}, {"stop_s", 0}}),
      With("/flows/0", {{"kind", "cbr"}, {"rate_bps", 0}}),
      With("/flows/0/sender_clock_offset_s", 1e9),
      With("/flows/0/min_rate_bps", 0),
      With("/flows/0/objective", {0.5, 0.5, 0.5}),
      With("/flows/0/media", video),
      With("/flows/0/media", {{"kind", "video"}, {"stall_probability", 2}, {"minimum_output_share", 0}}),
      With("/flows/0/media", {{"kind", "video"}, {"key_frame_interval_s", 0}, {"minimum_output_share", 2}}),
      With("/flows/0",
           {{"kind", "tcp"},
            {"congestion_control", {{"pilot", "copa"}, {"copilots", {"copa", "copa"}}, {"fusion", "min"}}}}),
      With("/flows/0", {{"kind", "tcp"},
                        {"congestion_control", {{"pilot", "bbr"}, {"copilots", json::array()}, {"fusion", "max"}}}}),
      With("/flows/0", {{"kind", "tcp"}, {"transfers", {{"bytes", {1, 1}}, {"idle_mean_s", 1e300}}}}),
  };
  for (const json& document : documents) EXPECT_TRUE(Runs(document)) << document;
  EXPECT_FALSE(Runs(With("/flows/0/controller", "magic")));
  EXPECT_FALSE(Runs(With("/flows/0/controller", "pilot=magic")));
  for (const auto& file : FilesIn("/tests/data/scenarios/bad")) {
    // A file that is no JSON is refused before it gets here.
    if (const json document = Read(file); !document.is_discarded()) Runs(document);
  }
}

TEST(ScenarioTest, TakesPausesUpToTheBoundOfThePythonReader) {
  json pauses = json::array();
  for (int second = 0; second < 10'000; ++second) pauses.push_back({second, second + 0.5});
  json document = With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", pauses}});
  document["flows"][0]["pauses_s"] = pauses;
  EXPECT_EQ(ErrorOf(document), "");
  pauses.push_back({10'000, 10'000.5});
  for (const char* key : {"pauses_s", "media.video_pauses_s"}) {
    const bool of_video = key[0] == 'm';
    const std::string error = ErrorOf(of_video ? With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", pauses}})
                                               : With("/flows/0/pauses_s", pauses));
    EXPECT_TRUE(error.starts_with("flows[0]." + std::string(key) + ": takes at most 10000 value(s)")) << error;
  }
}

// Removes each key in turn, wherever it stands, and expects a refusal that names it.
void ExpectEveryKeyIsNeeded(const json& document, const json::json_pointer& at) {
  const json& value = document[at];
  if (!value.is_structured()) return;
  for (const auto& [name, inner] : value.items()) {
    ExpectEveryKeyIsNeeded(document,
                           at / (value.is_array() ? json::json_pointer("/" + name) : json::json_pointer() / name));
    if (!value.is_object()) continue;
    json without = document;
    without[at].erase(name);
    try {
      ParseScenario(without);
      ADD_FAILURE() << "read without " << (at / name).to_string();
    } catch (const ProgramError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      if (name == "duration_s") {
        EXPECT_EQ(message,
                  "duration_s: is missing; add it. weir-sim reads whole scenarios; `weir traces convert FILE.json "
                  "WHOLE.json` fills in defaults");
      }
    }
  }
}

TEST(ScenarioTest, ReadsOnlyWholeDocuments) {
  for (const auto& file : FilesIn("/tests/data/scenarios/good")) {
    SCOPED_TRACE(file);
    json document = WholeScenario(Read(file));
    // For people only.
    for (const char* key : {"description", "provenance"}) document.erase(key);
    ExpectEveryKeyIsNeeded(document, json::json_pointer());
  }
}

TEST(ScenarioTest, ReadsEveryScenarioFile) {
  const std::pair<const char*, size_t> folders[] = {{"/tests/data/scenarios/good", 5},
                                                    {"/traces/weir_traces/catalogue", 20}};
  for (const auto& [folder, least] : folders) {
    const auto good = FilesIn(folder);
    ASSERT_GE(good.size(), least);
    for (const auto& file : good) EXPECT_EQ(ErrorOf(Read(file)), "") << file;
  }
}

}  // namespace
}  // namespace weir::sim
