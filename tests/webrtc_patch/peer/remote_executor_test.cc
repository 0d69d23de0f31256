// An agent behind a socket: what it answers decides, and whatever else it does costs its own decisions only.
#include "remote_executor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "made_estimator.h"
#include "policy/policy_controller.h"
#include "test_call.h"
#include "test_models.h"

namespace weir::peer {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr Timestamp kStart = Timestamp::Millis(5'000);

// As the test model "rate_bps" has it.
constexpr char kRequest[] =
    R"({"interval_ms":100,"features":["receive_rate_bps","loss_ratio","queueing_delay_mean_s"],"history":2,)"
    R"("action":{"kind":"rate_bps","min_bps":30000,"max_bps":50000000}})";
constexpr size_t kObservation = 6;

std::string FrameOf(char type, const void* payload, size_t size) {
  FrameWriter writer;
  writer.Start(type);
  writer.AddBytes(payload, size);
  return std::string(writer.Finish());
}
std::string Text(char type, const std::string& text) { return FrameOf(type, text.data(), text.size()); }
std::string Step(float action, float objective = kNaN) {
  const float values[4] = {action, objective, objective, objective};
  return FrameOf('S', values, sizeof values);
}

struct Observed {
  uint8_t flags = 0;
  std::vector<float> values;
  double objective[3] = {};
};

// The agent's end, which the test itself drives.
class AgentTest : public testing::Test {
 protected:
  ~AgentTest() override { Hang(); }

  Result<FileDescriptor> Accept() {
    if (!listens_) return Error{"nobody listens"};
    ++connections_;
    Hang();
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    end_ = ends[1];
    channel_.emplace(end_, end_);
    Send(Text('R', request_));
    return FileDescriptor(ends[0]);
  }
  Result<std::shared_ptr<RemoteAgent>> Connect() {
    return RemoteAgent::Connect(
        "here", [this] { return Accept(); }, [this](const std::string& what) { told_.push_back(what); },
        TimeDelta::Zero());
  }
  std::unique_ptr<RemoteExecutor> MakeExecutor() {
    auto agent = Connect();
    if (!agent) throw std::runtime_error(agent.error());
    auto executor = std::make_unique<RemoteExecutor>(agent.value());
    const auto greeting = channel_->Read();
    EXPECT_TRUE(greeting && greeting->type == 'C');
    return executor;
  }

  void Send(const std::string& bytes) const {
    EXPECT_EQ(send(end_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void Hang() {
    if (end_ >= 0) close(end_);
    end_ = -1;
  }
  std::vector<Observed> Observations() {
    std::vector<Observed> all;
    while (const auto frame = channel_->Read()) {
      if (frame->type != 'O') continue;
      Observed one{.flags = static_cast<uint8_t>(frame->payload[0]), .values = std::vector<float>(kObservation)};
      EXPECT_EQ(frame->payload.size(), 1 + kObservation * sizeof(float) + sizeof one.objective);
      std::memcpy(one.values.data(), frame->payload.data() + 1, kObservation * sizeof(float));
      std::memcpy(one.objective, frame->payload.data() + 1 + kObservation * sizeof(float), sizeof one.objective);
      all.push_back(std::move(one));
    }
    return all;
  }
  void Submit(RemoteExecutor& executor, float value = 1.0f) {
    executor.Submit(std::vector<float>(kObservation, value), kLatency, kStart);
  }

  std::string request_ = kRequest;
  bool listens_ = true;
  int connections_ = 0;
  int end_ = -1;
  std::optional<FrameChannel> channel_;
  std::vector<std::string> told_;
};

PolicyFault FaultOf(const std::optional<PolicyAnswer>& answer) {
  EXPECT_TRUE(answer);
  return answer ? answer->fault : PolicyFault::kNone;
}

TEST_F(AgentTest, DecidesWithTheFeaturesThatItNames) {
  const auto executor = MakeExecutor();
  EXPECT_EQ(executor->description().observation_size, kObservation);
  EXPECT_EQ(executor->description().interval, TimeDelta::Millis(100));
  EXPECT_FALSE(executor->Take(kStart));
  Submit(*executor, 7.0f);
  EXPECT_FALSE(executor->Take(kStart));
  const auto observed = Observations();
  ASSERT_EQ(observed.size(), 1u);
  EXPECT_EQ(observed[0].flags, RemoteAgent::kBegins);
  EXPECT_EQ(observed[0].values, std::vector<float>(kObservation, 7.0f));
  EXPECT_NEAR(observed[0].objective[1], 0.8, 1e-6);
  Send(Step(1e6f));
  const auto answer = executor->Take(kStart);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->fault, PolicyFault::kNone);
  EXPECT_EQ(answer->action.front(), 1e6f);
  EXPECT_FALSE(executor->Take(kStart));
  Submit(*executor);
  EXPECT_EQ(Observations().front().flags, 0);
  executor->Reset();
  EXPECT_FALSE(executor->Take(kStart));
  Submit(*executor);
  EXPECT_EQ(Observations().front().flags, RemoteAgent::kBegins);
  EXPECT_TRUE(told_.empty());
}

TEST_F(AgentTest, TheNewestObservationIsTheOneThatIsAnswered) {
  const auto executor = MakeExecutor();
  Submit(*executor);
  Submit(*executor);
  Send(Step(1e6f));
  EXPECT_FALSE(executor->Take(kStart));
  Send(Step(2e6f));
  EXPECT_EQ(executor->Take(kStart)->action.front(), 2e6f);
}

// Answers each observation with a model's decision when the controller is polled next.
class PolledController final : public ReceiverController {
 public:
  PolledController(std::unique_ptr<ReceiverController> controller, std::function<void()> before)
      : controller_(std::move(controller)), before_(std::move(before)) {}
  std::string_view name() const override { return controller_->name(); }
  void OnTargetRateConstraints(const TargetRateConstraints& message) override {
    controller_->OnTargetRateConstraints(message);
  }
  void OnObjective(const Objective& objective) override { controller_->OnObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override { controller_->OnRoundTripTimeUpdate(update); }
  void OnArrival(const Arrival& arrival) override { controller_->OnArrival(arrival); }
  void OnTargetApplied(const TargetTransferRate& target) override { controller_->OnTargetApplied(target); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    before_();
    return controller_->OnTimeout(now);
  }
  Timestamp next_timeout() const override { return controller_->next_timeout(); }

 private:
  const std::unique_ptr<ReceiverController> controller_;
  const std::function<void()> before_;
};

std::vector<int64_t> RatesOfCall(std::unique_ptr<ReceiverController> controller) {
  BandwidthEstimator estimator = MadeEstimator({}, std::move(controller));
  TestCall call(estimator, {.capacity = [](TimeDelta) { return DataRate::KilobitsPerSecond(2000); }});
  call.RunUntil(TimeDelta::Seconds(5));
  std::vector<int64_t> rates;
  for (const auto& target : call.feedback())
    rates.insert(rates.end(), {target.at.us(), target.estimate.target_rate.bps()});
  rates.push_back(static_cast<int64_t>(estimator.counters().controller.faults));
  return rates;
}

TEST_F(AgentTest, AModelBehindASocketDecidesAsHere) {
  const TimeDelta delay = PolicyExecutor::kPollInterval;
  auto model = LoadTestModel("rate_bps");
  const FeatureSpecification& features = model->description().features;
  ASSERT_EQ(features.size(), kObservation);
  request_ = R"({"interval_ms":100,"history":)" + std::to_string(features.history) + R"(,"features":[)";
  for (const auto& field : features.fields) request_ += "\"" + std::string(field.name) + "\",";
  request_.back() = ']';
  request_ += R"(,"action":{"kind":"rate_bps","min_bps":)" +
              std::to_string(model->description().action.min_rate.bps()) + R"(,"max_bps":)" +
              std::to_string(model->description().action.max_rate.bps()) + "}}";
  const auto here = RatesOfCall(std::make_unique<PolicyController>(std::make_unique<DelayedExecutor>(
      std::make_unique<InlineExecutor>(LoadTestModel("rate_bps")), [delay] { return delay; })));
  ASSERT_GT(here.size(), 20u);
  const auto there =
      RatesOfCall(std::make_unique<PolledController>(std::make_unique<PolicyController>(MakeExecutor()), [&] {
        for (const Observed& one : Observations()) {
          float action = 0;
          EXPECT_EQ(model->Run(one.values, kBalanced, {&action, 1}), PolicyFault::kNone);
          Send(Step(action));
        }
      }));
  EXPECT_EQ(there, here);
}

TEST_F(AgentTest, AFiniteAnswerToAFiniteObservationOnly) {
  const auto executor = MakeExecutor();
  Submit(*executor, kNaN);
  EXPECT_EQ(FaultOf(executor->Take(kStart)), PolicyFault::kBadObservation);
  EXPECT_TRUE(Observations().empty());
  for (const float action : {kNaN, std::numeric_limits<float>::infinity()}) {
    Submit(*executor);
    Send(Step(action));
    EXPECT_EQ(FaultOf(executor->Take(kStart)), PolicyFault::kNonFiniteOutput);
  }
  EXPECT_TRUE(told_.empty());
}

TEST_F(AgentTest, ThatDoesNotAnswerGetsFewObservations) {
  const auto executor = MakeExecutor();
  for (int i = 0; i < 100; ++i) {
    Submit(*executor);
    EXPECT_FALSE(executor->Take(kStart));
  }
  ASSERT_EQ(Observations().size(), size_t{RemoteAgent::kMaxUnanswered});
  for (int i = 0; i < RemoteAgent::kMaxUnanswered; ++i) Send(Step(1e6f));
  EXPECT_FALSE(executor->Take(kStart));
  Submit(*executor);
  Send(Step(3e6f));
  EXPECT_EQ(executor->Take(kStart)->action.front(), 3e6f);
  EXPECT_TRUE(told_.empty());
}

TEST_F(AgentTest, ThatSendsNonsenseIsHungUpOn) {
  const std::vector<std::string> all{
      "nonsense nonsense",
      std::string("\xff\xff\xff\xff", 4) + "S",
      Text('O', "an observation"),
      Text('R', kRequest),
      Text('E', "no \x1b[2J more"),
      Text('S', ""),
      Text('S', std::string(15, 'x')),
      Text('S', std::string(20, 'x')),
      Step(1e6f, 0.5f),
      Step(1e6f, -1.0f),
      Step(1e6f) + Step(1e6f),
  };
  for (const std::string& bytes : all) {
    told_.clear();
    const auto executor = MakeExecutor();
    Submit(*executor);
    Send(bytes);
    EXPECT_EQ(FaultOf(executor->Take(kStart)), PolicyFault::kRuntimeError) << bytes;
    ASSERT_EQ(told_.size(), 1u) << bytes;
    EXPECT_TRUE(told_[0].starts_with("the agent here: ")) << told_[0];
    EXPECT_EQ(told_[0].find('\x1b'), std::string::npos);
  }
  const auto executor = MakeExecutor();
  Submit(*executor);
  Send(Step(1e6f).substr(0, 7));
  EXPECT_FALSE(executor->Take(kStart));
  Hang();
  EXPECT_EQ(FaultOf(executor->Take(kStart)), PolicyFault::kRuntimeError);
}

TEST_F(AgentTest, WithAnotherPolicyIsRefused) {
  const auto executor = MakeExecutor();
  request_.replace(request_.find("30000"), 5, "40000");
  Hang();
  for (int i = 0; i < 5; ++i) {
    Submit(*executor);
    EXPECT_EQ(FaultOf(executor->Take(kStart)), PolicyFault::kRuntimeError);
  }
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_GT(connections_, 1);
}

TEST_F(AgentTest, SaysLittleHoweverOftenItIsLost) {
  const auto executor = MakeExecutor();
  for (int i = 0; i < 200; ++i) {
    Hang();
    Submit(*executor);
    Submit(*executor);
  }
  EXPECT_LE(told_.size(), size_t{RemoteAgent::kMaxTold});
}

TEST_F(AgentTest, NeedsADescriptionThatIsOne) {
  const std::string good = kRequest;
  const auto changed = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "JSON"},
      {"[]", "object"},
      {std::string(10'000, '['), "nested"},
      {changed("loss_ratio", "weather"), "there is no feature"},
      {changed(":100", ":9"), "interval_ms"},
      {changed(":100", ":10001"), "interval_ms"},
      {changed(":100", ":1e999"), "number"},
      {changed("\"history\":2", "\"history\":1000000"), "history"},
      {changed("\"history\":2", "\"history\":1000"), ""},
      {changed("30000", "60000000"), "max_bps"},
      {changed("30000", "0"), "min_bps"},
      {changed("\"rate_bps\"", "\"discrete\""), "multipliers"},
      {changed("{\"interval", "{\"scenario\":1,\"interval"), "scenario"},
      {std::string(70'000, ' ') + good, "no frame"},
  };
  for (const auto& [request, message] : all) {
    request_ = request;
    const auto agent = Connect();
    EXPECT_EQ(static_cast<bool>(agent), message.empty()) << request.substr(0, 100);
    EXPECT_NE((agent ? "" : agent.error()).find(message), std::string::npos) << (agent ? "" : agent.error());
  }
  request_ = changed("\"history\":2", "\"history\":1000");
  request_.replace(request_.find("\"loss_ratio\""), 12, "\"loss_ratio\",\"delay_gradient\",\"packets_received\"");
  const auto agent = Connect();
  ASSERT_FALSE(agent);
  EXPECT_NE(agent.error().find("at most 4096 values"), std::string::npos) << agent.error();
  EXPECT_TRUE(told_.empty());
}

TEST_F(AgentTest, ThatIsNotThereIsNamed) {
  listens_ = false;
  EXPECT_EQ(Connect().error(), "the agent here: nobody listens");
  EXPECT_NE(ConnectSocket("/nowhere/agent").error().find("No such file"), std::string::npos);
  EXPECT_NE(ConnectSocket(std::string(200, 'x')).error().find("too long"), std::string::npos);
}

TEST_F(AgentTest, AnyBytesCostDecisionsOnly) {
  std::mt19937 random(1);
  const std::vector<std::string> parts{Step(1e6f),
                                       Step(kNaN),
                                       Step(1e6f, 0.3f),
                                       Text('R', kRequest),
                                       Text('E', "no"),
                                       Text('S', "x"),
                                       std::string("\x10\0\0\0S", 5),
                                       std::string("\0\0\0\0\0", 5)};
  const auto executor = MakeExecutor();
  int answers = 0;
  for (int i = 0; i < 5'000; ++i) {
    if (random() % 50 == 0) Hang();
    if (random() % 4 > 0) Submit(*executor);
    if (end_ >= 0) static_cast<void>(Observations());
    if (end_ >= 0 && random() % 3 > 0) {
      std::string bytes = random() % 3 > 0 ? parts[0] : parts[random() % parts.size()];
      if (random() % 10 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 10 == 0) bytes.resize(random() % bytes.size());
      static_cast<void>(send(end_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    const auto answer = executor->Take(kStart);
    if (!answer || answer->fault != PolicyFault::kNone) continue;
    ++answers;
    EXPECT_TRUE(std::isfinite(answer->action.front()));
  }
  EXPECT_GT(answers, 500);
}

}  // namespace
}  // namespace weir::peer
