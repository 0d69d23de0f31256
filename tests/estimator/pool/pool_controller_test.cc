#include "weir/pool_controller.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "controllers/fixed_controller.h"
#include "controllers/rule_controller.h"
#include "made_estimator.h"
#include "test_call.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/interval_statistics.h"
#include "weir/testing/mock_controllers.h"

namespace weir {
namespace {

using Role = PoolController::Role;

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

Result<std::unique_ptr<ReceiverController>> BuiltIn(const std::string& name) {
  auto made = MakeBuiltInController(name, Kbps(1000));
  if (!made) return Error{"there is none"};
  return made;
}

Result<std::unique_ptr<PoolController>> Make(const std::string& line, PoolFunctions functions = {}) {
  return PoolController::Create(ParsePool(line).value(), &BuiltIn, std::move(functions));
}

std::unique_ptr<PoolController> MakePool(const std::string& line) { return std::move(Make(line).value()); }

// Faults from `from` to `to`, counted in decisions; else `rate`.
std::unique_ptr<MockReceiverController> FaultyBetween(int from, int to, DataRate rate) {
  return std::make_unique<MockReceiverController>(
      [=](int decision) { return decision >= from && decision < to ? std::nullopt : std::optional(rate); });
}

void Drive(BandwidthEstimator& estimator, TimeDelta until) {
  // Media has come, and the guard has not seen it.
  if (estimator.next_timeout().IsMinusInfinity()) estimator.OnPacket(TestStream(77).Next(Timestamp::Seconds(5)));
  const Timestamp end = Timestamp::Seconds(5) + until;
  for (Timestamp now = std::max(Timestamp::Seconds(5), estimator.next_timeout()); now <= end;
       now = std::max(now, estimator.next_timeout())) {
    static_cast<void>(estimator.OnTimeout(now));
  }
}

TEST(PoolControllerTest, SaysWhichMemberCannotBeHad) {
  const auto pool = Make("pilot=rule copilots=nada,vegas");
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error(), "pool member vegas: there is none");
  EXPECT_EQ(Make("pilot=rule fusion=user").error(),
            "fusion=user needs a function, which only a program that links the library can give");
  EXPECT_EQ(Make("pilot=rule policy=user").error(),
            "policy=user needs a function, which only a program that links the library can give");
}

TEST(PoolControllerTest, AWatcherChangesNothing) {
  std::vector<std::vector<int64_t>> runs;
  for (const char* line : {"pilot=nada", "pilot=nada copilots=rule,fixed"}) {
    BandwidthEstimator estimator = MadeEstimator({}, MakePool(line));
    TestCall call(estimator, {.capacity = Steady(Kbps(1500))});
    call.RunUntil(TimeDelta::Seconds(30));
    std::vector<int64_t>& rates = runs.emplace_back();
    for (const TestCall::Target& target : call.feedback()) rates.push_back(target.estimate.target_rate.bps());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST(PoolControllerTest, TellsAllWhatWasReallySent) {
  auto pilot = std::make_unique<MockReceiverController>(Kbps(200));
  auto copilot = std::make_unique<MockReceiverController>(Kbps(150));
  auto watcher = std::make_unique<MockReceiverController>(Kbps(40));
  const std::vector<MockReceiverController*> members{pilot.get(), copilot.get(), watcher.get()};
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::move(pilot), std::move(copilot), std::move(watcher)),
                               {.pilot = {}, .fusion = FusionKind::kMedian}));
  Drive(estimator, TimeDelta::Seconds(1));
  for (const MockReceiverController* member : members) EXPECT_EQ(member->events().applied.back(), Kbps(150));
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kCandidate);
}

TEST(PoolControllerTest, AFailingCopilotLosesItsVoteAndGetsItBack) {
  // 250 ms of faults are forgiven: its last rate still counts. Without the guard, which allows no rise without packets.
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator = MadeEstimator(
      config,
      PoolOf(ControllersOf(std::make_unique<MockReceiverController>(Kbps(200)), FaultyBetween(10, 20, Kbps(100))),
             {.pilot = {}, .fusion = FusionKind::kMin}));
  Drive(estimator, TimeDelta::Millis(1250));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(100));
  EXPECT_EQ(PoolIn(estimator).role(1), Role::kCopilot);
  Drive(estimator, TimeDelta::Millis(1850));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  EXPECT_EQ(PoolIn(estimator).role(1), Role::kSuspended);
  Drive(estimator, TimeDelta::Millis(4050));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(100));
  EXPECT_EQ(PoolIn(estimator).members()[1].faults, 10u);
  EXPECT_EQ(estimator.counters().controller.faults, 0u);
}

TEST(PoolControllerTest, ByTrustGivesTheSeatOfAFailingPilotToACopilot) {
  BandwidthEstimator estimator = MadeEstimator(
      {}, PoolOf(ControllersOf(FaultyBetween(10, 30, Kbps(200)), std::make_unique<MockReceiverController>(Kbps(150))),
                 {.pilot = {}, .policy = PilotPolicyKind::kByTrust}));
  Drive(estimator, TimeDelta::Millis(950));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 0u);
  Drive(estimator, TimeDelta::Millis(1450));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 1u);
  EXPECT_EQ(PoolIn(estimator).role(0), Role::kSuspended);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(150));
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kController);
  EXPECT_EQ(estimator.counters().controller.fallback_decisions, 0u);
  // 20 good decisions end the suspension, five seconds of trust the distrust.
  Drive(estimator, TimeDelta::Millis(9500));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 1u);
  Drive(estimator, TimeDelta::Millis(10'500));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 0u);
  EXPECT_EQ(PoolIn(estimator).active_changes(), 2u);
  EXPECT_NEAR(PoolIn(estimator).first_pilot_held().seconds(), 1.3, 0.11);
}

TEST(PoolControllerTest, ByTrustTakesTheSeatBackFromOneThatHasNoMoreToDecide) {
  auto fixed = std::make_unique<FixedController>(Kbps(150));
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(FaultyBetween(10, 30, Kbps(200)), std::move(fixed)),
                               {.pilot = {}, .policy = PilotPolicyKind::kByTrust}));
  Drive(estimator, TimeDelta::Seconds(2));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 1u);
  Drive(estimator, TimeDelta::Seconds(11));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 0u);
}

TEST(PoolControllerTest, WithoutACopilotTheFallbackFlies) {
  BandwidthEstimator estimator = MadeEstimator(
      {}, PoolOf(ControllersOf(FaultyBetween(10, 1000, Kbps(200))), {.pilot = {}, .policy = PilotPolicyKind::kByTrust},
                 {}, std::make_unique<MockReceiverController>(Kbps(90))));
  Drive(estimator, TimeDelta::Seconds(3));
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kFallback);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(90));
}

TEST(PoolControllerTest, AUsersPolicySeesThePoolAndMayChangeTheSeatEveryFiveSeconds) {
  int asked = 0;
  std::vector<double> intervals_s;
  PoolFunctions functions;
  functions.policy = [&](const PoolView& view) {
    EXPECT_EQ(view.members.size(), 2u);
    EXPECT_EQ(view.members[1].name, "m1");
    if (asked > 0) intervals_s.push_back(view.statistics.interval_s);
    Selection wanted = view.line;
    wanted.pilot = static_cast<size_t>(++asked % 2);
    return wanted;
  };
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<MockReceiverController>(Kbps(200)),
                                             std::make_unique<MockReceiverController>(Kbps(210))),
                               {.pilot = {}, .policy = PilotPolicyKind::kUser}, std::move(functions)));
  Drive(estimator, TimeDelta::Millis(20'050));
  EXPECT_EQ(asked, 200);
  EXPECT_NEAR(static_cast<double>(PoolIn(estimator).active_changes()), 4, 1);
}

TEST(PoolControllerTest, AUsersPolicyThatNamesNobodyChangesNothing) {
  PoolFunctions functions;
  functions.policy = [](const PoolView& view) {
    return Selection{.pilot = view.members.size(), .copilots = ~MemberSet{0}, .fusion = FusionKind::kMax};
  };
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<MockReceiverController>(Kbps(200)),
                                             std::make_unique<MockReceiverController>(Kbps(150))),
                               {.pilot = {}, .policy = PilotPolicyKind::kUser}, std::move(functions)));
  Drive(estimator, TimeDelta::Seconds(1));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 0u);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
}

TEST(PoolControllerTest, AUsersFusionOutsideTheMembersRatesIsThePilots) {
  for (const DataRate wild :
       {DataRate::Zero(), Kbps(149), Kbps(201), DataRate::PlusInfinity(), DataRate::MinusInfinity()}) {
    PoolFunctions functions;
    functions.fusion = [wild](DataRate, std::span<const DataRate>) { return wild; };
    BandwidthEstimator estimator =
        MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<MockReceiverController>(Kbps(200)),
                                               std::make_unique<MockReceiverController>(Kbps(150))),
                                 {.pilot = {}, .fusion = FusionKind::kUser}, std::move(functions)));
    Drive(estimator, TimeDelta::Seconds(1));
    EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
    EXPECT_GE(PoolIn(estimator).fusion_faults(), 9u);
  }
}

TEST(PoolControllerTest, ALineChangesSeatsInTheCall) {
  BandwidthEstimator estimator = MadeEstimator({}, MakePool("pilot=fixed copilots=nada,rule"));
  Drive(estimator, TimeDelta::Seconds(1));
  const auto set = [&](const std::string& line) { return PoolIn(estimator).Configure(ParsePool(line).value()); };
  EXPECT_FALSE(set("pilot=nada copilots=fixed fusion=max policy=by_objective"));
  EXPECT_EQ(PoolIn(estimator).selection().pilot, 1u);
  EXPECT_EQ(PoolIn(estimator).role(0), Role::kCopilot);
  EXPECT_EQ(PoolIn(estimator).role(2), Role::kWatching);
  EXPECT_EQ(set("pilot=vegas")->message, "\"vegas\" is no member of this pool; members are chosen when it is made");
  EXPECT_EQ(set("pilot=nada copilots=fixed,vegas")->message,
            "\"vegas\" is no member of this pool; members are chosen when it is made");
  EXPECT_TRUE(set("pilot=nada fusion=user"));
  EXPECT_EQ(ToString(PoolIn(estimator).specification()), "pilot=nada copilots=fixed fusion=max policy=by_objective");
}

TEST(PoolControllerTest, ANewControllerGoesOnFromTheRateInForce) {
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator = MadeEstimator(config, PoolOf(ControllersOf(FaultyBetween(5, 1000, Kbps(200)))));
  estimator.OnRoundTripTime(TimeDelta::Millis(70), Timestamp::Seconds(5));
  Drive(estimator, TimeDelta::Seconds(2));
  ASSERT_TRUE(estimator.controller().active().suspended);
  const DataRate before = estimator.latest().target_rate;
  auto next = std::make_unique<MockReceiverController>(before * 1.05);
  const MockReceiverController& seen = *next;
  const uint64_t faults = estimator.counters().controller.faults;
  estimator.SetController(std::move(next));
  EXPECT_FALSE(estimator.controller().active().suspended);
  EXPECT_EQ(seen.events().constraints.size(), 1u);
  EXPECT_EQ(seen.events().round_trip_times.back(), TimeDelta::Millis(70));
  EXPECT_EQ(seen.events().applied, std::vector{before});
  EXPECT_EQ(estimator.latest().target_rate, before);
  Drive(estimator, TimeDelta::Seconds(3));
  EXPECT_EQ(estimator.latest().target_rate, before * 1.05);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kController);
  EXPECT_EQ(estimator.counters().controller.faults, faults);
}

TEST(PoolControllerTest, AControllerCanBeReplacedBeforeTheCallBegins) {
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<MockReceiverController>(Kbps(200)))));
  estimator.SetController(std::make_unique<MockReceiverController>(Kbps(250)));
  Drive(estimator, TimeDelta::Seconds(1));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(250));
}

TEST(PoolControllerTest, AnAnswerThatComesTooLateIsDroppedAndCounts) {
  // By the clock, the decisions 5 to 24 take `slow` each, and the others no time.
  for (const TimeDelta slow : {TimeDelta::Millis(50), TimeDelta::Micros(50'001)}) {
    Timestamp wall = Timestamp::Seconds(100);
    auto pilot = std::make_unique<MockReceiverController>([&](int decision) {
      if (decision >= 5 && decision < 25) wall += slow;
      return Kbps(decision >= 5 && decision < 25 ? 900 : 200);
    });
    BandwidthEstimatorConfig config;
    config.guard = false;
    config.decision_limit.clock = [&] { return wall; };
    BandwidthEstimator estimator = MadeEstimator(config, PoolOf(ControllersOf(std::move(pilot))));
    Drive(estimator, TimeDelta::Millis(1050));
    const bool late = slow > TimeDelta::Millis(50);
    EXPECT_EQ(estimator.counters().controller.late_decisions, late ? 5u : 0u);
    EXPECT_EQ(estimator.counters().controller.faults, late ? 5u : 0u);
    EXPECT_EQ(estimator.controller().active().suspended, late);
    EXPECT_EQ(estimator.latest().target_rate == Kbps(900), !late);
    Drive(estimator, TimeDelta::Millis(5050));
    EXPECT_EQ(estimator.counters().controller.late_decisions, late ? 20u : 0u);
    EXPECT_FALSE(estimator.controller().active().suspended);
    EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  }
}

// Shows the pool alone: the veto itself causes steps, and with these members queues.
const BandwidthEstimatorConfig kWithoutVeto{.constraints = {}, .objective = {}, .guard_rules = WithoutRule("veto")};

TEST(PoolControllerTest, UnderMinTheCautiousOneHasTheSayWhoeverSitsWhere) {
  for (const char* line : {"pilot=fixed copilots=nada fusion=min", "pilot=nada copilots=fixed fusion=min"}) {
    BandwidthEstimator estimator = MadeEstimator(kWithoutVeto, MakePool(line));
    TestCall call(estimator, {.capacity = Steady(Kbps(500))});
    call.RunUntil(TimeDelta::Seconds(40));
    EXPECT_LE(call.Delay(0.95, TimeDelta::Seconds(20), TimeDelta::Seconds(40)), TimeDelta::Millis(130));
  }
}

}  // namespace
}  // namespace weir
