#include "scenario/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "whole_scenario.h"

namespace weir::sim {
namespace {

using nlohmann::json;

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
  EXPECT_EQ(scenario.forward.capacity->RateAt(70'000'000'000), 1'000'000);
  EXPECT_EQ(scenario.forward.one_way_delay_ns, 12'500'000);
  EXPECT_EQ(QueueLimit(scenario.forward, scenario.duration_ns()), 9000);
  EXPECT_EQ(scenario.forward.queue_discipline, QueueDiscipline::kCodel);
  EXPECT_EQ(scenario.forward.loss.good_to_bad, 0.1);
  EXPECT_EQ(scenario.forward.loss.bad_to_good, 0.2);
  EXPECT_EQ(scenario.forward.loss.loss_good, 0.3);
  EXPECT_EQ(scenario.forward.loss.loss_bad, 0.4);
  EXPECT_EQ(scenario.forward.jitter.standard_deviation_ns, 1'500'000);
  EXPECT_EQ(scenario.forward.jitter.maximum_ns, 4'000'000);
  EXPECT_TRUE(scenario.forward.jitter.reorder);
  EXPECT_EQ(scenario.reverse.capacity->RateAt(0), 500'000);
  EXPECT_EQ(QueueLimit(scenario.reverse, scenario.duration_ns()), 7);
  EXPECT_EQ(scenario.reverse.loss.ratio, 0.25);

  const RtpSpec& rtp = std::get<RtpSpec>(scenario.flows[0].kind);
  EXPECT_EQ(scenario.flows[0].direction, Direction::kReverse);
  EXPECT_EQ(scenario.flows[0].extra_one_way_delay_ns, 3'500'000);
  EXPECT_EQ(scenario.flows[0].stop_ns, 50'000'000'000);
  EXPECT_EQ(rtp.controller, "gcc-remb");
  EXPECT_EQ(rtp.fixed_rate, DataRate::BitsPerSecond(123'456));
  EXPECT_EQ(rtp.objective, kThroughput);
  EXPECT_EQ(rtp.sender_clock.ppm, -12.5);
  EXPECT_EQ(rtp.sender_clock.offset_ns, 63'500'000'000);
  const std::vector<std::pair<int64_t, int64_t>> pauses{{4'000'000'000, 6'000'000'000}, {6'000'000'000, 7'500'000'000}};
  EXPECT_EQ(rtp.pauses_ns, pauses);
  EXPECT_EQ(rtp.media.kind, MediaSpec::Kind::kVideo);
  EXPECT_EQ(rtp.media.max_rate.bps(), 2'500'000);
  EXPECT_EQ(rtp.media.frames_per_second, 25.0);
  EXPECT_EQ(rtp.media.key_frame_interval_ns, 4'000'000'000);
  EXPECT_EQ(rtp.media.audio_rate.bps(), 0);
  EXPECT_EQ(rtp.media.audio_packets_per_second, 2.5);
  const std::vector<std::pair<int64_t, int64_t>> video_pauses{{1'000'000'000, 2'500'000'000},
                                                              {3'000'000'000, 4'000'000'000}};
  EXPECT_EQ(rtp.media.video_pauses_ns, video_pauses);

  const TcpSpec& tcp = std::get<TcpSpec>(scenario.flows[1].kind);
  EXPECT_EQ(scenario.flows[1].stop_ns, 60'000'000'000);
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

TEST(ScenarioTest, RefusesWithTheJsonPath) {
  struct Case {
    json document;
    const char* message;
  };
  const Case cases[] = {
      {json::array(), "must be a JSON object"},
      {With("/schema", "weir.scenario/2"), "schema: must be \"weir.scenario/1\", not \"weir.scenario/2\""},
      {With("/seed", 1), "seed: unknown key"},
      {With("/name", ""), "name: must not be empty"},
      {With("/name", 5), "name: must be a string, not 5"},
      {With("/provenance", {{"source", 1}}), "provenance.source: must be a string"},
      {With("/duration_s", 0), "duration_s: must be greater than 0, not 0"},
      {With("/duration_s", true), "duration_s: must be a number, not true"},
      {With("/duration_s", 1e9), "duration_s: must be at most 86400"},
      {With("/forward", nullptr), "forward: must be a JSON object, not null"},
      {With("/forward/colour", "red"), "forward.colour: unknown key"},
      {With("/forward/capacity/rates_bps/0", -1), "forward.capacity.rates_bps[0]: must be at least 0, not -1"},
      {With("/forward/capacity/rates_bps/0", 2e10), "forward.capacity.rates_bps[0]: must be at most 10000000000"},
      {With("/forward/capacity/rates_bps/0", "1"), "forward.capacity.rates_bps[0]: must be a number, not \"1\""},
      {With("/forward/capacity/times_s", {0, 1}), "forward.capacity: 2 times and 1 rates"},
      {With("/forward/capacity/times_s/0", 1), "forward.capacity.times_s[0]: must be 0"},
      {With("/forward/capacity", {{"times_s", {0, 2, 2}}, {"rates_bps", {1, 1, 1}}}),
       "forward.capacity.times_s[2]: must be later"},
      {With("/forward/capacity", {{"times_s", json::array()}, {"rates_bps", json::array()}}),
       "forward.capacity.times_s: needs at least 1"},
      {With("/forward/capacity/period_s", 0), "forward.capacity.period_s: must be greater than 0"},
      {With("/forward/one_way_delay_ms", -1), "forward.one_way_delay_ms: must be at least 0, not -1"},
      {With("/forward/one_way_delay_ms", {{"times_s", {0, 1}}, {"values_ms", {20}}}),
       "forward.one_way_delay_ms: 2 times and 1 values"},
      {With("/forward/one_way_delay_ms", {{"times_s", {0, 1}}, {"values_ms", {20, -1}}}),
       "forward.one_way_delay_ms.values_ms[1]: must be at least 0, not -1"},
      {With("/forward/one_way_delay_ms", {{"times_s", {0, 1}}, {"values_ms", {20, 30}}, {"period_s", 1}}),
       "forward.one_way_delay_ms.period_s: must be later than the last time"},
      {With("/forward/one_way_delay_ms", {{"times_s", {0}}, {"values_ms", {20}}, {"rates_bps", {1}}}),
       "forward.one_way_delay_ms.rates_bps: unknown key"},
      {With("/forward/loss", {{"kind", "bernoulli"}, {"ratio", {{"times_s", {0}}, {"ratios", {1.1}}}}}),
       "forward.loss.ratio.ratios[0]: must be at most 1"},
      {With("/forward/queue", {{"bytes", 1}, {"packets", 1}}), "forward.queue: give exactly one"},
      {With("/forward/queue", json::object()), "forward.queue: give exactly one"},
      {With("/forward/queue", {{"bytes", 1.5}}), "forward.queue.bytes: must be a whole number, not 1.5"},
      {With("/forward/queue", {{"packets", 0}}), "forward.queue.packets: must be at least 1, not 0"},
      {With("/forward/queue", {{"milliseconds", 0}}), "forward.queue.milliseconds: must be greater than 0"},
      {With("/forward/queue_discipline", "red"),
       R"(forward.queue_discipline: "red" is not allowed; use "drop_tail", "codel" or "dualpi2")"},
      {With("/forward/loss", {{"ratio", 0.1}}), "forward.loss.kind: is missing"},
      {With("/forward/loss", {{"kind", "none"}, {"ratio", 0.1}}), "forward.loss.ratio: unknown key"},
      {With("/forward/loss", {{"kind", "bernoulli"}, {"ratio", 1.1}}), "forward.loss.ratio: must be at most 1"},
      {With("/forward/loss", {{"kind", "gilbert_elliott"}}), "forward.loss.good_to_bad: is missing"},
      {With("/forward/loss", {{"kind", "policer"}, {"rate_bps", 0}, {"burst_bytes", 1500}}),
       "forward.loss.rate_bps: must be at least 1, not 0"},
      {With("/forward/loss", {{"kind", "policer"}, {"rate_bps", 1}, {"burst_bytes", 1499}}),
       "forward.loss.burst_bytes: must be at least 1500, not 1499"},
      {With("/forward/jitter", {{"kind", "uniform"}, {"maximum_ms", 1}, {"reorder", true}}),
       "forward.jitter.reorder: unknown key"},
      {With("/forward/jitter", {{"kind", "slotted"}, {"interval_ms", 0}}),
       "forward.jitter.interval_ms: must be at least 0.1, not 0"},
      {With("/forward/jitter", {{"kind", "spikes"}, {"gap_mean_s", 0}, {"shortest_ms", 1}, {"longest_ms", 2}}),
       "forward.jitter.gap_mean_s: must be at least 0.1, not 0"},
      {With("/forward/jitter", {{"kind", "spikes"}, {"gap_mean_s", 1}, {"shortest_ms", 3}, {"longest_ms", 2}}),
       "forward.jitter: longest_ms must be at least shortest_ms"},
      {With("/forward/jitter", {{"kind", "truncated_gaussian"}, {"standard_deviation_ms", 1}}),
       "forward.jitter.maximum_ms: is missing"},
      {With("/reverse", nullptr), "reverse: must be a JSON object, not null"},
      {With("/flows", json::array()), "flows: needs at least 1"},
      {With("/flows/0", {{"kind", "udp"}}), R"(flows[0].kind: "udp" is not allowed; use "rtp", "tcp")"},
      {With("/flows/1", {{"kind", "rtp"}}), "flows[1].id: \"media\" is taken"},
      {With("/flows/0/start_s", -1), "flows[0].start_s: must be at least 0"},
      {With("/flows/0", {{"kind", "rtp"}, {"start_s", 5}, {"stop_s", 5}}),
       "flows[0].stop_s: must be later than start_s"},
      {With("/flows/0/controller", "magic"), "flows[0].controller: \"magic\" is not allowed"},
      {With("/flows/0/rate_bps", 1), "flows[0].rate_bps: unknown key"},
      {With("/flows/0/sender_clock_ppm", 5001), "flows[0].sender_clock_ppm: must be at most 5000"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1, 2}}, {"steps_ms", {5}}}),
       "flows[0].sender_clock_steps: 2 times and 1 steps"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1, 1}}, {"steps_ms", {5, 6}}}),
       "flows[0].sender_clock_steps.times_s[1]: must be later than the time before it, not 1"},
      {With("/flows/0/sender_clock_steps", {{"times_s", {1}}, {"steps_ms", {1.1e6}}}),
       "flows[0].sender_clock_steps.steps_ms[0]: must be at most 1000000"},
      {With("/flows/0/sender_clock_offset_s", -1), "flows[0].sender_clock_offset_s: must be at least 0"},
      {With("/flows/0/min_rate_bps", 0), "flows[0].min_rate_bps: must be greater than 0"},
      {With("/flows/0/min_rate_bps", 400'000), "flows[0].start_rate_bps: must be at least min_rate_bps (400000)"},
      {With("/flows/0/media", {{"kind", "filler"}, {"max_rate_bps", 1000}}),
       "flows[0].media.max_rate_bps: must be at least min_rate_bps (30000)"},
      {With("/flows/0/media", {{"kind", "filler"}, {"frames_per_second", 1}}),
       "flows[0].media.frames_per_second: unknown key"},
      {With("/flows/0/objective", {0.5, 0.5}), "flows[0].objective: needs at least 3"},
      {With("/flows/0/objective", {0.5, 0.5, 0.5}), "flows[0].objective: the three weights must sum to 1"},
      {With("/flows/0/objective", {0.5, 0.5, 0.0}), "flows[0].objective[2]: must be greater than 0"},
      {With("/flows/0/pauses_s", {{2, 1}}), "flows[0].pauses_s[0]: must end after its start"},
      {With("/flows/0/pauses_s", {{1, 3}, {2, 4}}), "flows[0].pauses_s[1]: must end after"},
      {With("/flows/0/pauses_s", {{1, 2, 3}}), "flows[0].pauses_s[0]: takes at most 2"},
      {With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", {{2, 1}, {3, 4}}}}),
       "flows[0].media.video_pauses_s[0]: must end after its start"},
      {With("/flows/0/media", {{"kind", "video"}, {"audio_packets_per_second", 1001}}),
       "flows[0].media.audio_packets_per_second: must be at most 1000"},
      {With("/flows/0", {{"kind", "tcp"}, {"congestion_control", "quick"}}), "flows[0].congestion_control: \"quick\""},
      {With("/flows/0",
            {{"kind", "tcp"},
             {"congestion_control", {{"pilot", "bbr"}, {"copilots", {"copa", "copa"}}, {"fusion", "min"}}}}),
       "flows[0].congestion_control: copa is there twice"},
      {With("/flows/0",
            {{"kind", "tcp"}, {"congestion_control", {{"pilot", "bbr"}, {"copilots", {"copa"}}, {"fusion", "user"}}}}),
       "flows[0].congestion_control.fusion: \"user\" is not allowed"},
      {With("/flows/0", {{"kind", "tcp"}, {"transfers", {{"bytes", {5, 4}}, {"idle_mean_s", 1}}}}),
       "flows[0].transfers.bytes: the smallest size (5) exceeds the largest (4)"},
      {With("/flows/0", {{"kind", "cbr"}}), "flows[0].rate_bps: is missing"},
      {With("/flows/0", {{"kind", "cbr"}, {"rate_bps", 1}, {"packet_bytes", 28}}),
       "flows[0].packet_bytes: must be at least 29, not 28"},
      {With("/flows/0", {{"kind", "cbr"}, {"rate_bps", 1}, {"extra_one_way_delay_ms", 1}}),
       "flows[0].extra_one_way_delay_ms: unknown key"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(ErrorOf(c.document).starts_with(c.message))
        << "got:      " << ErrorOf(c.document) << "\nexpected: " << c.message;
  }
}

TEST(ScenarioTest, TakesPausesUpToTheBoundOfThePythonReader) {
  json pauses = json::array();
  for (int second = 0; second < 10'000; ++second) pauses.push_back({second, second + 0.5});
  json document = With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", pauses}});
  document["flows"][0]["pauses_s"] = pauses;
  EXPECT_EQ(ErrorOf(document), "");
  pauses.push_back({10'000, 10'000.5});
  EXPECT_EQ(ErrorOf(With("/flows/0/pauses_s", pauses)), "flows[0].pauses_s: takes at most 10000 value(s)");
  EXPECT_EQ(ErrorOf(With("/flows/0/media", {{"kind", "video"}, {"video_pauses_s", pauses}})),
            "flows[0].media.video_pauses_s: takes at most 10000 value(s)");
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
    // Its entries are free.
    document["provenance"] = json::object();
    ExpectEveryKeyIsNeeded(document, json::json_pointer());
  }
}

TEST(ScenarioTest, FilesThatAreAndAreNotScenarios) {
  const std::pair<const char*, size_t> folders[] = {{"/tests/data/scenarios/good", 5}, {"/traces/catalogue", 20}};
  for (const auto& [folder, least] : folders) {
    const auto good = FilesIn(folder);
    ASSERT_GE(good.size(), least);
    for (const auto& file : good) EXPECT_EQ(ErrorOf(Read(file)), "") << file;
  }
  const auto bad = FilesIn("/tests/data/scenarios/bad");
  ASSERT_GE(bad.size(), 20u);
  for (const auto& file : bad) {
    const json document = Read(file);
    // A file that is no JSON is refused before it gets here.
    if (document.is_discarded()) continue;
    EXPECT_NE(ErrorOf(document), "") << file;
  }
}

}  // namespace
}  // namespace weir::sim
