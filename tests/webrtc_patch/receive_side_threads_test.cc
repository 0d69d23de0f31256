// Calls on threads of their own, as libwebrtc's workers are, over one switch that another thread turns. `make tsan`
// runs these under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "receive_side_call.h"
#include "receive_side_switch.h"
#include "test_models.h"

namespace weir {
namespace {

using testing::ReceiveSideCall;

class ReceiveSideThreads : public ::testing::Test {
 protected:
  // Makes libwebrtc's static objects before there are threads: ThreadSanitizer does not see how libwebrtc, which is not
  // instrumented, guards their construction.
  static void SetUpTestSuite() { ReceiveSideCall().Run(100, 400'000); }
};

TEST_F(ReceiveSideThreads, ModelsAreReplacedWhileCallsDecideBeginAndEnd) {
  constexpr int kCalls = 3;
  const auto pool = PoolOf("pilot=weir copilots=nada fusion=min", {{"", ReadTestModel("rate_bps")}});
  ASSERT_TRUE(pool) << pool.error();
  std::vector<ControllerFactory> controllers;
  for (const char* model : {"rate_bps", "log_rate", "relative"}) {
    controllers.push_back(PoolOf("pilot=weir copilots=nada fusion=min", {{"", ReadTestModel(model)}}).value());
  }
  std::atomic<int> decisions = 0;
  std::atomic<int> faults = 0;
  ReceiveSideSwitchConfig config;
  config.controller = pool.value();
  config.on_decision = [&](const ReceiveSideDecision& decision) {
    ++decisions;
    if (decision.counters.controller.faults > 0) ++faults;
  };
  const auto receive_side = ReceiveSideSwitch::Create(std::move(config)).value();
  receive_side->Install();

  std::atomic<int> running = kCalls;
  std::vector<std::thread> calls;
  calls.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    calls.emplace_back([&running] {
      // One call ends and the next begins on the same thread.
      for (int number = 0; number < 5; ++number) ReceiveSideCall().Run(2000, 800'000);
      --running;
    });
  }
  constexpr std::string_view kWide = "pilot=weir copilots=nada fusion=max";
  constexpr std::string_view kNarrow = "pilot=nada copilots=weir fusion=min";
  constexpr DataRate kLow = DataRate::KilobitsPerSecond(1000), kHigh = DataRate::KilobitsPerSecond(6000);
  for (size_t i = 0; running > 0; ++i) {
    receive_side->SetController(controllers[i % controllers.size()]);
    if (i % 3 == 0) (void)receive_side->ConfigurePool(i % 2 ? kWide : kNarrow);
    if (i % 5 == 0) (void)receive_side->SetObjective(i % 2 ? kLatency : kThroughput);
    if (i % 7 == 0) receive_side->RepeatRemb();
    if (i % 11 == 0) receive_side->SetMode(i % 2 ? ReceiveSideMode::kWeir : ReceiveSideMode::kShadow);
    if (i % 13 == 0) (void)receive_side->SetConstraints({.max_rate = i % 2 ? kLow : kHigh});
  }
  for (std::thread& call : calls) call.join();
  ReceiveSideSwitch::Uninstall();
  EXPECT_GT(decisions, kCalls * 5 * 5);
  EXPECT_EQ(faults, 0);
}

// Runs forty calls on four threads; returns the number of decisions of the controller of that name, or of all.
int DecisionsOfManyThreads(Result<ControllerFactory> policy, std::string_view controller = "") {
  EXPECT_TRUE(policy) << policy.error();
  if (!policy) return 0;
  ReceiveSideSwitchConfig config;
  config.controller = policy.value();
  std::atomic<int> decisions = 0;
  config.on_decision = [&](const ReceiveSideDecision& decision) {
    decisions += controller.empty() || decision.controller == controller;
  };
  const auto receive_side = ReceiveSideSwitch::Create(std::move(config)).value();
  receive_side->Install();
  std::vector<std::thread> calls;
  calls.reserve(4);
  for (int i = 0; i < 4; ++i) {
    calls.emplace_back([] {
      for (int number = 0; number < 10; ++number) ReceiveSideCall().Run(500, 400'000);
    });
  }
  for (std::thread& call : calls) call.join();
  ReceiveSideSwitch::Uninstall();
  return decisions;
}

TEST_F(ReceiveSideThreads, OnePoolFactoryServesCallsOfManyThreads) {
  EXPECT_GT(DecisionsOfManyThreads(PolicyAlone(ReadTestModel("rate_bps")), "weir"), 4 * 10);
}

// Simulated time passes faster than the worker decides: some decisions are late, and none of the calls waits.
TEST_F(ReceiveSideThreads, OneWorkerDecidesForCallsOfManyThreads) {
  EXPECT_GT(DecisionsOfManyThreads(PolicyAlone(ReadTestModel("rate_bps"), ProcessWorker())), 4 * 10);
}

}  // namespace
}  // namespace weir
