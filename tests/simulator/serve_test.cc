// `serve` over pipes: the frames, the numbers in them, and that what it simulates is what `run` simulates.
#include "serve/serve.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "endpoints/rtp_format.h"
#include "serve/frame_channel.h"
#include "serve/step_recorder.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr float kUnchanged = std::numeric_limits<float>::quiet_NaN();

struct Step {
  uint8_t flags = 0;
  std::vector<float> observation;
  std::array<double, kStepFields.size()> fields{};
  std::string packets;

  double field(std::string_view name) const {
    for (size_t i = 0; i < kStepFields.size(); ++i) {
      if (kStepFields[i] == name) return fields[i];
    }
    throw std::out_of_range(std::string(name));
  }
};

json RequestFor(const json& scenario) {
  return {{"scenario", WholeScenario(scenario)},
          {"seed", 1},
          {"interval_ms", 200},
          {"features", {"receive_rate_bps", "loss_ratio", "queueing_delay_mean_s"}},
          {"history", 2},
          {"action", {{"kind", "rate_bps"}, {"min_bps", 1e4}, {"max_bps", 1e7}}}};
}

// The process's other side, with a server in a thread.
class ServeTest : public testing::Test {
 protected:
  ServeTest() {
    int requests[2], replies[2];
    EXPECT_EQ(pipe(requests), 0);
    EXPECT_EQ(pipe(replies), 0);
    request_fd_ = requests[1];
    reply_fd_ = replies[0];
    channel_.emplace(reply_fd_, request_fd_);
    server_ = std::thread([this, input = requests[0], output = replies[1]] {
      clean_end_ = Serve(input, output);
      close(input);
      close(output);
    });
  }
  ~ServeTest() override {
    End();
    close(reply_fd_);
  }

  // Closes the request pipe; true when the server ended well.
  bool End() {
    if (server_.joinable()) {
      close(request_fd_);
      server_.join();
    }
    return clean_end_;
  }

  void Send(char type, std::string_view payload = "") {
    channel_->Write(type, payload);
    ASSERT_FALSE(channel_->broken());
  }
  void Act(std::vector<float> action, std::array<float, 3> objective = {kUnchanged, kUnchanged, kUnchanged}) {
    action.insert(action.end(), objective.begin(), objective.end());
    Send('S', {reinterpret_cast<const char*>(action.data()), action.size() * sizeof(float)});
  }
  std::string Receive(char type) {
    const std::optional<Frame> frame = channel_->Read();
    EXPECT_TRUE(frame);
    if (!frame) return "";
    EXPECT_EQ(frame->type, type) << frame->payload;
    return std::string(frame->payload);
  }
  Step ReceiveStep() {
    const std::string payload = Receive('O');
    Step step;
    step.observation.resize(observation_size_);
    const size_t observation_bytes = observation_size_ * sizeof(float);
    if (payload.size() < 1 + observation_bytes + sizeof(step.fields)) return step;
    step.flags = static_cast<uint8_t>(payload[0]);
    std::memcpy(step.observation.data(), payload.data() + 1, observation_bytes);
    std::memcpy(step.fields.data(), payload.data() + 1 + observation_bytes, sizeof(step.fields));
    step.packets = payload.substr(1 + observation_bytes + sizeof(step.fields));
    return step;
  }
  Step Reset(const json& request) {
    Send('R', request.dump());
    const json greeting = json::parse(Receive('C'));
    observation_size_ = greeting["observation_size"];
    EXPECT_EQ(greeting["step_fields"], json(kStepFields));
    return ReceiveStep();
  }

  int request_fd_ = -1;
  int reply_fd_ = -1;
  std::optional<FrameChannel> channel_;
  std::thread server_;
  bool clean_end_ = false;
  size_t observation_size_ = 0;
};

TEST_F(ServeTest, RunsAnEpisode) {
  const Step first = Reset(RequestFor(Steady(2'000'000, 10)));
  EXPECT_EQ(first.flags, 0);
  // The first decision is due after an interval under the start rate.
  EXPECT_EQ(first.field("time_s"), 0.2);
  EXPECT_EQ(first.field("target_bps"), 300'000);
  EXPECT_NEAR(first.observation[0], 300e3, 60e3);
  EXPECT_EQ(first.observation[3], 0);
  for (int i = 2; i <= 50; ++i) {
    Act({1'000'000.0f});
    const Step step = ReceiveStep();
    ASSERT_EQ(step.flags, i == 50 ? 2 : 0) << i;
    ASSERT_NEAR(step.field("time_s"), 0.2 * i, 1e-9);
    ASSERT_NEAR(step.field("capacity_bps"), 2e6, 1);
    ASSERT_NEAR(step.field("achievable_bps"), 2e6, 10);
    ASSERT_NEAR(step.field("future_capacity_bps"), 2e6, 1);
    ASSERT_EQ(step.field("base_one_way_delay_ms"), 25.0);
    if (i < 4) continue;
    ASSERT_NEAR(step.field("target_bps"), 1e6, 5);
    ASSERT_NEAR(step.field("receive_rate_bps"), 1.02e6, 0.06e6);  // IP packets; the observation counts RTP
    ASSERT_NEAR(step.observation[0], 1e6, 0.06e6);
    ASSERT_NEAR(step.observation[3], 1e6, 0.06e6);
    ASSERT_NEAR(step.field("one_way_delay_mean_ms"), 30.0, 0.1);
    ASSERT_EQ(step.field("loss_ratio"), 0.0);
  }
  // Over is over, until the next reset.
  Act({1'000'000.0f});
  EXPECT_NE(Receive('E').find("over"), std::string::npos);
  EXPECT_EQ(Reset(RequestFor(Steady(2'000'000, 1))).field("time_s"), 0.2);
  EXPECT_TRUE(End());
}

TEST_F(ServeTest, SlotsCarryMediaThatWaits) {
  json scenario = PathOf({{0.0, 0}, {0.03, 5'000'000}}, 10);
  scenario["forward"]["capacity"]["period_s"] = 0.06;
  scenario["flows"][0]["media"] = {{"kind", "filler"}, {"max_rate_bps", 2'000'000}};
  Reset(RequestFor(scenario));
  double sum_bps = 0;
  for (int i = 2; i <= 50; ++i) {
    Act({2'000'000.0f});
    const Step step = ReceiveStep();
    ASSERT_NEAR(step.field("achievable_bps"), 2.046e6, 0.3e6) << i;  // an interval holds three slots and a third
    sum_bps += step.field("achievable_bps");
  }
  EXPECT_NEAR(sum_bps / 49, 2.046e6, 0.01e6);
}

TEST_F(ServeTest, TellsOfLossAndQueue) {
  json scenario = Steady(1'000'000, 20);
  Reset(RequestFor(scenario));
  Step step;
  // Not for longer: a sender that follows REMB does not bear such loss.
  for (int i = 0; i < 20; ++i) {
    Act({4'000'000.0f});
    step = ReceiveStep();
  }
  // RTP of 4 Mbit/s is 4.09 Mbit/s of IP; a quarter of it fits.
  EXPECT_NEAR(step.field("loss_ratio"), 0.755, 0.03);
  EXPECT_NEAR(step.field("queueing_delay_ms"), 287, 14);  // 29 packets fit, the first of them partly gone
  EXPECT_NEAR(step.field("one_way_delay_p95_ms"), 320, 8);
  EXPECT_NEAR(step.observation[1], 0.755, 0.05);
}

// RTP of what an IP packet of full size carries.
constexpr double kRtpShare = 1224.0 / 1252.0;

TEST_F(ServeTest, TellsWhatAnOracleWouldAnswer) {
  json scenario = PathOf({{0.0, 2'000'000}, {5.05, 1'000'000}}, 8);
  scenario["flows"].push_back({{"kind", "cbr"}, {"rate_bps", 500'000}, {"start_s", 2}, {"stop_s", 3}});
  const Step first = Reset(RequestFor(scenario));
  EXPECT_NEAR(first.field("optimal_bps"), 0.96 * 2e6 * kRtpShare, 100);
  for (int i = 2; i < 40; ++i) {
    // Objectives from the next observation on: balanced, then latency.
    const std::array<float, 3> latency{0.1f, 0.8f, 0.1f}, unchanged{kUnchanged, kUnchanged, kUnchanged};
    Act({500'000.0f}, i == 30 ? latency : unchanged);
    const Step step = ReceiveStep();
    // The tenth of a second begins when the answer, which takes 25 ms, is there.
    const double capacity_bps = i < 25 ? 2e6 : i == 25 ? 0.25 * 2e6 + 0.75 * 1e6 : 1e6;
    const double cross_bps = i >= 10 && i < 15 ? 5e5 : 0;
    const double utilisation = i < 30 ? 0.96 : 0.85;
    ASSERT_NEAR(step.field("optimal_bps"), utilisation * (capacity_bps - cross_bps) * kRtpShare, 100) << i;
  }
}

TEST_F(ServeTest, AnOracleDrainsTheQueue) {
  Reset(RequestFor(Steady(1'000'000, 10)));
  Step step;
  for (int i = 0; i < 5; ++i) {
    Act({1'100'000.0f}, {0.8f, 0.1f, 0.1f});
    step = ReceiveStep();
  }
  // It grows until the answer, which takes 25 ms, is there.
  const double queued_bits = step.field("queueing_delay_ms") * 1e-3 * 1e6 + 0.025 * (1.1e6 / kRtpShare - 1e6);
  ASSERT_GT(queued_bits, 40'000);
  const double drained_bps = (queued_bits - 2 * 1500 * 8) / 0.2;
  EXPECT_NEAR(step.field("optimal_bps"), (1e6 - drained_bps) * kRtpShare, 3e4);
  Act({1'100'000.0f}, {0.1f, 0.8f, 0.1f});
  EXPECT_LT(ReceiveStep().field("optimal_bps"), 0.6 * step.field("optimal_bps"));
}

TEST_F(ServeTest, AnOracleLeavesOthersTheirShare) {
  json scenario = Steady(2'000'000, 10);
  scenario["flows"].push_back({{"kind", "tcp"}, {"start_s", 4}});
  Reset(RequestFor(scenario));
  for (int i = 2; i < 50; ++i) {
    Act({500'000.0f});
    ASSERT_NEAR(ReceiveStep().field("optimal_bps"), 0.96 * 2e6 * kRtpShare / (i < 20 ? 1 : 2), 100) << i;
  }
}

TEST_F(ServeTest, ListsTheKindsOfPackets) {
  json scenario = Steady(2'000'000, 4);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.05}};
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  json request = RequestFor(scenario);
  request["packets"] = true;
  Step step = Reset(request);
  constexpr size_t kRecordBytes = 8 + 8 + 4 + 2 + 1 + 1 + 4 + 4 + 4;
  std::map<uint8_t, std::set<PacketKind>> kinds;
  while (step.flags == 0) {
    for (size_t at = sizeof(uint32_t); at < step.packets.size(); at += kRecordBytes) {
      const auto payload_type = static_cast<uint8_t>(step.packets[at + 22]);
      kinds[payload_type].insert(static_cast<PacketKind>(step.packets[at + 23]));
    }
    Act({1'000'000.0f});
    step = ReceiveStep();
  }
  for (const PacketKind kind : {PacketKind::kVideo, PacketKind::kAudio, PacketKind::kRetransmission})
    EXPECT_EQ(kinds[PayloadTypeOf(kind)], std::set{kind});
}

TEST_F(ServeTest, ListsEveryPacket) {
  json request = RequestFor(Steady(2'000'000, 2));
  request["packets"] = true;
  Step step = Reset(request);
  constexpr size_t kRecordBytes = 8 + 8 + 4 + 2 + 1 + 1 + 4 + 4 + 4;
  uint16_t next_sequence_number = 0;
  while (step.flags == 0) {
    uint32_t count = 0;
    ASSERT_GE(step.packets.size(), sizeof(count));
    std::memcpy(&count, step.packets.data(), sizeof(count));
    ASSERT_EQ(step.packets.size(), sizeof(count) + count * kRecordBytes);
    EXPECT_EQ(count, step.field("packets_received"));
    for (uint32_t i = 0; i < count; ++i) {
      const char* record = step.packets.data() + sizeof(count) + i * kRecordBytes;
      double sent_ms = 0, arrival_ms = 0;
      uint16_t sequence_number = 0;
      uint32_t header_size = 0;
      std::memcpy(&sent_ms, record, 8);
      std::memcpy(&arrival_ms, record + 8, 8);
      std::memcpy(&sequence_number, record + 20, 2);
      std::memcpy(&header_size, record + 28, 4);
      ASSERT_EQ(sequence_number, next_sequence_number++);
      ASSERT_GT(arrival_ms - sent_ms, 25.0);
      ASSERT_LT(arrival_ms - sent_ms, 40.0);
      ASSERT_EQ(header_size, 24u);
    }
    Act({1'000'000.0f});
    step = ReceiveStep();
  }
  EXPECT_GT(next_sequence_number, 100);
}

// An agent in the assembly of `run`, with a list of decisions.
class ListedDecisions final : public DecisionSource {
 public:
  explicit ListedDecisions(std::vector<float> rates) : rates_(std::move(rates)) {}
  std::optional<std::span<const float>> Decide(std::span<const float> observation) override {
    observations.emplace_back(observation.begin(), observation.end());
    return std::span<const float>(rates_).subspan(next_++ % rates_.size(), 1);
  }
  std::vector<std::vector<float>> observations;

 private:
  std::vector<float> rates_;
  size_t next_ = 0;
};

TEST_F(ServeTest, SimulatesWhatRunSimulates) {
  json scenario = PathOf({{0, 2'500'000}, {4, 600'000}}, 12);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.01}};
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  scenario["flows"].push_back({{"kind", "tcp"}, {"id", "tcp"}, {"start_s", 5.0}});
  const std::vector<float> rates{500e3f, 800e3f, 1.2e6f, 700e3f, 400e3f, 405e3f, 900e3f};

  ListedDecisions decisions(rates);
  AgentSpecification agent;
  agent.interval = TimeDelta::Millis(200);
  agent.source = &decisions;
  for (const char* name : {"receive_rate_bps", "loss_ratio", "queueing_delay_mean_s"}) {
    agent.features.fields.push_back(*FindIntervalStatisticsField(name));
  }
  agent.features.history = 2;
  agent.action.kind = ActionKind::kRate;
  agent.action.min_rate = DataRate::KilobitsPerSecond(10);
  agent.action.max_rate = DataRate::KilobitsPerSecond(10'000);
  SimulationJob job = JobOf(scenario, "agent");
  job.agent = &agent;
  const auto record = RunJob(job, true);

  // A reset in the middle starts anew.
  Reset(RequestFor(scenario));
  for (int i = 0; i < 5; ++i) {
    Act({2'500'000.0f});
    ReceiveStep();
  }
  for (int repetition = 0; repetition < 2; ++repetition) {
    Step step = Reset(RequestFor(scenario));
    double received_bits = step.field("receive_rate_bps") * 0.2;
    for (size_t i = 0; step.flags == 0; ++i) {
      ASSERT_EQ(step.observation, decisions.observations[i]) << i;
      ASSERT_EQ(step.field("target_bps"), record["flows"][0]["series"]["target_bps"][2 * i + 1]) << i;
      Act({rates[i % rates.size()]});
      step = ReceiveStep();
      received_bits += step.field("receive_rate_bps") * 0.2;
    }
    EXPECT_NEAR(received_bits / 8, record["flows"][0]["bytes_received"].get<double>(), 1e-3);
  }
}

TEST_F(ServeTest, AtTheSenderStepsAreThoseOfTheFeedback) {
  json request = RequestFor(Steady(2'000'000, 10));
  request["side"] = "sender";
  Step step = Reset(request);
  double last_s = step.field("time_s");
  int steps = 0;
  for (; step.flags == 0; ++steps) {
    Act({1'000'000.0f});
    step = ReceiveStep();
    const double length_s = step.field("time_s") - last_s;
    last_s = step.field("time_s");
    if (steps < 4 || step.flags != 0) continue;
    ASSERT_NEAR(length_s, 0.2, 0.051) << last_s;
    ASSERT_NEAR(step.field("target_bps"), 1e6, 5);
    // Both count IP packets.
    ASSERT_NEAR(step.field("receive_rate_bps"), 1e6, 0.06e6);
    ASSERT_NEAR(step.observation[0], 1e6, 0.06e6);
  }
  EXPECT_EQ(last_s, 10);
  EXPECT_NEAR(steps, 50, 1);
  // Where nothing is ever sent there is nothing to decide.
  request["scenario"]["flows"][0]["pauses_s"] = {{0.0, 10.0}};
  step = Reset(request);
  EXPECT_EQ(step.flags, 2);
  EXPECT_EQ(step.observation, std::vector<float>(6, 0.0f));
}

TEST_F(ServeTest, BadRequestsAreAnsweredAndSurvived) {
  const json good = RequestFor(Steady(1'000'000, 1));
  Send('R', "{");
  EXPECT_NE(Receive('E').find("JSON"), std::string::npos);
  Send('X');
  EXPECT_NE(Receive('E').find("frame type"), std::string::npos);
  Act({1.0f});
  Receive('E');
  const struct {
    const char* pointer;
    json value;
    const char* naming;
  } cases[] = {{"/features", {"no_such_feature"}, "no_such_feature"},
               {"/surprise", 1, "surprise"},
               {"/scenario/flows/0/controller", "gcc", "under_test"},
               {"/action/kind", "guess", "guess"},
               {"/action/kind", "discrete", "discrete"},
               {"/interval_ms", 9, "interval_ms"},
               {"/history", 65, "history"},
               {"/side", "middle", "side"}};
  for (const auto& [pointer, value, naming] : cases) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    Send('R', bad.dump());
    const std::string message = Receive('E');
    EXPECT_NE(message.find(naming), std::string::npos) << message;
  }
  Reset(good);
  Act({std::numeric_limits<float>::infinity()});
  EXPECT_NE(Receive('E').find("finite"), std::string::npos);
  Reset(good);
  Act({1.0f, 2.0f, 3.0f});
  EXPECT_NE(Receive('E').find("float32"), std::string::npos);
  EXPECT_EQ(Reset(good).field("time_s"), 0.2);
}

TEST_F(ServeTest, AnEndInTheMiddleOfAFrameIsAFailure) {
  ASSERT_EQ(write(request_fd_, "\x10\0\0", 3), 3);
  EXPECT_FALSE(End());
}

TEST_F(ServeTest, AnEndBetweenFramesIsNot) {
  Reset(RequestFor(Steady(1'000'000, 1)));
  EXPECT_TRUE(End());
}

TEST_F(ServeTest, OtherFlowsUnderTestFollowTheRule) {
  json scenario = Steady(2'000'000, 20);
  scenario["flows"].push_back(RtpFlow("second"));
  Step step = Reset(RequestFor(scenario));
  while (step.flags == 0) {
    Act({500'000.0f});
    step = ReceiveStep();
  }
  // The rule takes what the agent leaves, so the queue is not empty.
  EXPECT_GT(step.field("one_way_delay_mean_ms"), 35.0);
  EXPECT_LT(step.field("one_way_delay_mean_ms"), 200.0);
}

}  // namespace
}  // namespace weir::sim
