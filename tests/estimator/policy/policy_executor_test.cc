// Decisions that are submitted and taken later: none of it blocks, and what is late is a fault.
#include "weir/policy_executor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "made_estimator.h"
#include "policy/inline_executor.h"
#include "test_call.h"
#include "test_policies.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"
#include "weir/supervised_controller.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Millis(5'000);
constexpr Timestamp At(int64_t ms) { return kStart + TimeDelta::Millis(ms); }
constexpr std::array kModels{"rate_bps", "relative", "recurrent", "mocc_sized", "nan_between_1_and_2_mbps"};

// `delay` is read at each decision, and outlives the controller.
std::unique_ptr<PolicyController> MakeDelayed(const std::string& model, const TimeDelta& delay) {
  return std::make_unique<PolicyController>(
      MakeDelayedExecutor(std::make_unique<InlineExecutor>(LoadTestModel(model)), [&delay] { return delay; }));
}

std::unique_ptr<PolicyController> StartDelayed(const std::string& model, const TimeDelta& delay) {
  auto controller = MakeDelayed(model, delay);
  controller->OnTargetRateConstraints({.at_time = kStart});
  return controller;
}

std::vector<int64_t> RatesOfCall(std::unique_ptr<ReceiverController> controller) {
  BandwidthEstimator estimator = MadeEstimator({}, std::move(controller));
  TestCall call(estimator, {.capacity = [](TimeDelta time) {
                  return DataRate::KilobitsPerSecond(time < TimeDelta::Seconds(5) ? 3000 : 900);
                }});
  call.RunUntil(TimeDelta::Seconds(10));
  std::vector<int64_t> rates;
  for (const auto& target : call.feedback()) {
    rates.insert(rates.end(), {target.at.us(), target.estimate.target_rate.bps(),
                               static_cast<int64_t>(target.estimate.reason.source),
                               static_cast<int64_t>(target.estimate.reason.guard_rule.value_or(kMaxGuardRules))});
  }
  rates.push_back(static_cast<int64_t>(estimator.counters().controller.faults));
  return rates;
}

TEST(PolicyExecutorTest, ADelayOfZeroEqualsInline) {
  for (const std::string model : kModels) {
    const auto inline_rates = RatesOfCall(std::make_unique<PolicyController>(LoadTestModel(model)));
    ASSERT_GT(inline_rates.size(), 30u) << model;
    EXPECT_EQ(RatesOfCall(MakeDelayed(model, TimeDelta::Zero())), inline_rates) << model;
    // The comparison notices a delay.
    EXPECT_NE(RatesOfCall(MakeDelayed(model, TimeDelta::Millis(25))), inline_rates) << model;
  }
}

TEST(PolicyExecutorTest, TheRateInForceStaysWhileTheAnswerIsOut) {
  const TimeDelta delay = TimeDelta::Millis(25);
  const auto controller = StartDelayed("rate_bps", delay);
  const ReceiverControlUpdate asked = controller->OnTimeout(At(100));
  EXPECT_FALSE(asked.target_rate);
  EXPECT_EQ(asked.source, TargetSource::kUndecided);
  EXPECT_EQ(controller->next_timeout(), At(125));
  EXPECT_EQ(controller->OnTimeout(At(124)).source, TargetSource::kUndecided);
  EXPECT_EQ(controller->next_timeout(), At(125));
  const ReceiverControlUpdate answered = controller->OnTimeout(At(125));
  ASSERT_TRUE(answered.target_rate);
  // Decisions keep their times.
  EXPECT_EQ(controller->next_timeout(), At(200));
}

TEST(PolicyExecutorTest, AnAnswerMayTakeAWholeInterval) {
  const TimeDelta delay = TimeDelta::Millis(100);
  const auto controller = StartDelayed("rate_bps", delay);
  EXPECT_FALSE(controller->OnTimeout(At(100)).target_rate);
  for (int64_t ms = 200; ms <= 1000; ms += 100) {
    EXPECT_EQ(controller->next_timeout(), At(ms));
    EXPECT_TRUE(controller->OnTimeout(At(ms)).target_rate) << ms;
  }
}

TEST(PolicyExecutorTest, ALaterAnswerIsDroppedAndAFault) {
  TimeDelta delay = TimeDelta::Millis(101);
  const auto controller = StartDelayed("recurrent", delay);
  EXPECT_FALSE(controller->OnTimeout(At(100)).target_rate);
  EXPECT_EQ(controller->next_timeout(), At(200));
  delay = TimeDelta::Millis(30);
  const ReceiverControlUpdate late = controller->OnTimeout(At(200));
  EXPECT_FALSE(late.target_rate);
  EXPECT_EQ(late.source, TargetSource::kNone);
  // The next decision was submitted at once; no answer comes of the one before.
  EXPECT_EQ(controller->next_timeout(), At(230));
  EXPECT_EQ(controller->OnTimeout(At(201)).source, TargetSource::kUndecided);
  // The recurrent state has counted it.
  EXPECT_EQ(controller->OnTimeout(At(230)).target_rate->bps(), 2'000'000);
  // A host that is late itself gets no answer to an old question.
  EXPECT_FALSE(controller->OnTimeout(At(300)).target_rate);
  EXPECT_EQ(controller->OnTimeout(At(1000)).source, TargetSource::kNone);
  EXPECT_EQ(controller->next_timeout(), At(1030));
  EXPECT_TRUE(controller->OnTimeout(At(1030)).target_rate);
}

TEST(PolicyExecutorTest, ThreeLateAnswersHandOverAndTwentyGoodOnesBringThePilotBack) {
  TimeDelta delay = TimeDelta::Millis(25);
  const auto fallback = SupervisedController::Of(MakeDelayed("rate_bps", delay));
  fallback->OnTargetRateConstraints({.at_time = kStart});
  Timestamp now = kStart;
  const auto run_until = [&](Timestamp end) {
    for (; fallback->next_timeout() <= end; static_cast<void>(fallback->OnTimeout(now))) now = fallback->next_timeout();
  };
  const ControllerState& active = fallback->active();
  run_until(At(1000));
  EXPECT_EQ(active.decisions, 9u);
  EXPECT_EQ(active.faults, 0u);
  EXPECT_EQ(fallback->OnTimeout(At(1025)).source, TargetSource::kController);
  delay = TimeDelta::Seconds(1);
  run_until(At(1350));
  EXPECT_EQ(active.faults, 2u);
  EXPECT_FALSE(active.suspended);
  run_until(At(1400));
  EXPECT_EQ(active.faults, 3u);
  EXPECT_TRUE(active.suspended);
  run_until(At(2000));
  EXPECT_EQ(active.faults, 9u);
  EXPECT_GT(fallback->counters().fallback_decisions, 0u);
  // The decision of At(2000) is still late. Those that are out count neither for nor against the pilot.
  delay = TimeDelta::Millis(25);
  run_until(At(2100 + 19 * 100 + 24));
  EXPECT_EQ(active.decisions_in_a_row, 19);
  EXPECT_TRUE(active.suspended);
  run_until(At(2100 + 19 * 100 + 25));
  EXPECT_FALSE(active.suspended);
  EXPECT_EQ(active.faults, 10u);
}

TEST(PolicyExecutorTest, TheRecurrentStateIsThatOfInline) {
  const TimeDelta delay = TimeDelta::Millis(40);
  const auto controller = StartDelayed("recurrent", delay);
  for (int64_t i = 1; i <= 20; ++i) {
    EXPECT_FALSE(controller->OnTimeout(At(100 * i)).target_rate);
    EXPECT_EQ(controller->OnTimeout(At(100 * i + 40)).target_rate->bps(), i * 1'000'000);
  }
}

TEST(PolicyExecutorTest, ALongGapResetsTheStateAndDropsTheAnswer) {
  const TimeDelta delay = TimeDelta::Millis(40);
  const auto controller = StartDelayed("recurrent", delay);
  EXPECT_FALSE(controller->OnTimeout(At(100)).target_rate);
  EXPECT_FALSE(controller->OnTimeout(At(3'600'000)).target_rate);
  EXPECT_EQ(controller->OnTimeout(At(3'600'040)).target_rate->bps(), 1'000'000);
}

TEST(PolicyExecutorTest, ResetDropsTheDecisionInFlight) {
  InlineExecutor at_once(LoadTestModel("recurrent"));
  const auto later = MakeDelayedExecutor(std::make_unique<InlineExecutor>(LoadTestModel("recurrent")),
                                         [] { return TimeDelta::Millis(40); });
  for (PolicyExecutor* executor : {static_cast<PolicyExecutor*>(&at_once), later.get()}) {
    const std::vector<float> observation(executor->description().observation_size);
    executor->Submit(observation, kBalanced, kStart);
    executor->Reset();
    EXPECT_FALSE(executor->Take(At(40)));
    executor->Submit(observation, kBalanced, kStart);
    const auto answer = executor->Take(At(40));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->fault, PolicyFault::kNone);
    EXPECT_FALSE(executor->Take(At(41)));
    const std::vector<float> first(answer->action.begin(), answer->action.end());
    executor->Submit(observation, kBalanced, kStart);
    EXPECT_NE(executor->Take(At(40))->action.front(), first.front());
  }
}

// Never answers, and cannot say when it will.
class StuckExecutor final : public PolicyExecutor {
 public:
  explicit StuckExecutor(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}

  const ModelDescription& description() const override { return policy_->description(); }
  void Submit(std::span<const float>, const Objective&, Timestamp) override {}
  std::optional<PolicyAnswer> Take(Timestamp) override { return std::nullopt; }
  void Reset() override {}

 private:
  const std::unique_ptr<Policy> policy_;
};

TEST(PolicyExecutorTest, AnExecutorThatIsStuckIsPolledEveryTenMilliseconds) {
  PolicyController controller(std::make_unique<StuckExecutor>(LoadTestModel("rate_bps")));
  controller.OnTargetRateConstraints({.at_time = kStart});
  EXPECT_EQ(controller.next_timeout(), At(100));
  for (int64_t ms = 100; ms < 1000; ms += 10) {
    // A decision that is due is the fault of the one before.
    const bool is_late = ms > 100 && ms % 100 == 0;
    EXPECT_EQ(controller.OnTimeout(At(ms)).source, is_late ? TargetSource::kNone : TargetSource::kUndecided);
    EXPECT_EQ(controller.next_timeout(), At(ms + 10));
  }
}

}  // namespace
}  // namespace weir
