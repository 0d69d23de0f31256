#include "weir/pool/controller_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scripted_controller.h"
#include "test_call.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers/built_in_controllers.h"
#include "weir/controllers/fixed_controller.h"
#include "weir/controllers/rule_controller.h"

namespace weir {
namespace {

using Role = ControllerPool::Role;

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

Result<std::unique_ptr<RateController>> BuiltIn(const std::string& name) {
  auto made = MakeBuiltInController(name, Kbps(1000));
  if (!made) return Error{"there is none"};
  return made;
}

Result<ControllerPool> Make(const std::string& line, PoolFunctions functions = {}) {
  return ControllerPool::Create(ParsePool(line).value(), &BuiltIn, std::move(functions));
}

ControllerPool MakePool(const std::string& line) { return std::move(Make(line).value()); }

// Faults from `from` to `to`, counted in decisions; else `rate`.
std::unique_ptr<ScriptedController> FaultyBetween(int from, int to, DataRate rate) {
  return std::make_unique<ScriptedController>(
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

TEST(ControllerPoolTest, SaysWhichMemberCannotBeHad) {
  const auto pool = Make("pilot=rule copilots=nada,vegas");
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error(), "pool member vegas: there is none");
  EXPECT_EQ(Make("pilot=rule fusion=user").error(),
            "fusion=user needs a function, which only a program that links the library can give");
  EXPECT_EQ(Make("pilot=rule policy=user").error(),
            "policy=user needs a function, which only a program that links the library can give");
}

TEST(ControllerPoolTest, RefusesSendersControllers) {
  class AtSender final : public RateController {
   public:
    std::string_view name() const override { return "sender"; }
    Side side() const override { return Side::kSender; }
    void OnTargetRateConstraints(const TargetRateConstraints&, Timestamp) override {}
    NetworkControlUpdate OnTimeout(Timestamp) override { return {}; }
    Timestamp next_timeout() const override { return Timestamp::PlusInfinity(); }
  };
  const auto pool = ControllerPool::Create({.pilot = "gcc"}, [](const std::string&) {
    return Result<std::unique_ptr<RateController>>(std::make_unique<AtSender>());
  });
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error(), "pool member gcc: decides at the sender, and the pool's place is the receiver");
}

TEST(ControllerPoolTest, AWatcherChangesNothing) {
  std::vector<std::vector<int64_t>> runs;
  for (const char* line : {"pilot=nada", "pilot=nada copilots=rule,fixed"}) {
    BandwidthEstimator estimator({}, MakePool(line));
    TestCall call(estimator, {.capacity = Steady(Kbps(1500))});
    call.RunUntil(TimeDelta::Seconds(30));
    std::vector<int64_t>& rates = runs.emplace_back();
    for (const TestCall::Target& target : call.feedback()) rates.push_back(target.estimate.target_rate.bps());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST(ControllerPoolTest, TellsAllWhatWasReallySent) {
  auto pilot = Always(Kbps(200));
  auto copilot = Always(Kbps(150));
  auto watcher = Always(Kbps(40));
  const std::vector<ScriptedController*> members{pilot.get(), copilot.get(), watcher.get()};
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(std::move(pilot), std::move(copilot), std::move(watcher)),
                                          {.pilot = {}, .fusion = Fusion::Kind::kMedian}));
  Drive(estimator, TimeDelta::Seconds(1));
  for (const ScriptedController* member : members) EXPECT_EQ(member->applied.back(), Kbps(150));
  EXPECT_EQ(estimator.latest().reason, EstimateReason::kCopilot);
}

TEST(ControllerPoolTest, AFailingCopilotLosesItsVoteAndGetsItBack) {
  // 250 ms of faults are forgiven: its last rate still counts. Without the guard, which allows no rise without packets.
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator(config, PoolOf(ControllersOf(Always(Kbps(200)), FaultyBetween(10, 20, Kbps(100))),
                                              {.pilot = {}, .fusion = Fusion::Kind::kMin}));
  Drive(estimator, TimeDelta::Millis(1250));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(100));
  EXPECT_EQ(estimator.pool().role(1), Role::kCopilot);
  Drive(estimator, TimeDelta::Millis(1850));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  EXPECT_EQ(estimator.pool().role(1), Role::kSuspended);
  Drive(estimator, TimeDelta::Millis(4050));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(100));
  EXPECT_EQ(estimator.pool().members()[1].faults, 10u);
  EXPECT_EQ(estimator.counters().policy_faults, 0u);
}

TEST(ControllerPoolTest, WithFeedbackOfTheirOwnMembersAreToldWhatTheyGave) {
  auto pilot = Always(Kbps(200)), copilot = Always(Kbps(150));
  const ScriptedController *told_pilot = pilot.get(), *told_copilot = copilot.get();
  BandwidthEstimator estimator({},
                               PoolOf(ControllersOf(std::move(pilot), std::move(copilot)),
                                      {.pilot = {}, .fusion = Fusion::Kind::kMin, .feedback = MemberFeedback::kOwn}));
  Drive(estimator, TimeDelta::Seconds(1));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(150));
  EXPECT_EQ(told_pilot->applied.back(), Kbps(200));
  EXPECT_EQ(told_copilot->applied.back(), Kbps(150));
}

TEST(ControllerPoolTest, ByTrustGivesTheSeatOfAFailingPilotToACopilot) {
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(FaultyBetween(10, 30, Kbps(200)), Always(Kbps(150))),
                                          {.pilot = {}, .policy = PilotPolicyKind::kByTrust}));
  Drive(estimator, TimeDelta::Millis(950));
  EXPECT_EQ(estimator.pool().selection().pilot, 0u);
  Drive(estimator, TimeDelta::Millis(1450));
  EXPECT_EQ(estimator.pool().selection().pilot, 1u);
  EXPECT_EQ(estimator.pool().role(0), Role::kSuspended);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(150));
  EXPECT_EQ(estimator.latest().reason, EstimateReason::kPilot);
  EXPECT_EQ(estimator.counters().fallback_decisions, 0u);
  // 20 good decisions end the suspension, five seconds of trust the distrust.
  Drive(estimator, TimeDelta::Millis(9500));
  EXPECT_EQ(estimator.pool().selection().pilot, 1u);
  Drive(estimator, TimeDelta::Millis(10'500));
  EXPECT_EQ(estimator.pool().selection().pilot, 0u);
  EXPECT_EQ(estimator.counters().pilot_changes, 2u);
  EXPECT_NEAR(estimator.pool().counters().first_pilot_held.seconds(), 1.3, 0.11);
}

TEST(ControllerPoolTest, ByTrustTakesTheSeatBackFromOneThatHasNoMoreToDecide) {
  auto fixed = std::make_unique<FixedController>(Kbps(150));
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(FaultyBetween(10, 30, Kbps(200)), std::move(fixed)),
                                          {.pilot = {}, .policy = PilotPolicyKind::kByTrust}));
  Drive(estimator, TimeDelta::Seconds(2));
  EXPECT_EQ(estimator.pool().selection().pilot, 1u);
  Drive(estimator, TimeDelta::Seconds(11));
  EXPECT_EQ(estimator.pool().selection().pilot, 0u);
}

TEST(ControllerPoolTest, WithoutACopilotTheFallbackFlies) {
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(FaultyBetween(10, 1000, Kbps(200))),
                                          {.pilot = {}, .policy = PilotPolicyKind::kByTrust}, {}, Always(Kbps(90))));
  Drive(estimator, TimeDelta::Seconds(3));
  EXPECT_EQ(estimator.latest().reason, EstimateReason::kFallback);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(90));
}

TEST(ControllerPoolTest, AUsersPolicySeesThePoolAndMayChangeTheSeatEveryFiveSeconds) {
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
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(Always(Kbps(200)), Always(Kbps(210))),
                                          {.pilot = {}, .policy = PilotPolicyKind::kUser}, std::move(functions)));
  Drive(estimator, TimeDelta::Millis(20'050));
  EXPECT_EQ(asked, 200);
  EXPECT_NEAR(static_cast<double>(estimator.counters().pilot_changes), 4, 1);
}

TEST(ControllerPoolTest, AUsersPolicyThatNamesNobodyChangesNothing) {
  PoolFunctions functions;
  functions.policy = [](const PoolView& view) {
    return Selection{.pilot = view.members.size(), .copilots = ~MemberSet{0}, .fusion = Fusion::Kind::kMax};
  };
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(Always(Kbps(200)), Always(Kbps(150))),
                                          {.pilot = {}, .policy = PilotPolicyKind::kUser}, std::move(functions)));
  Drive(estimator, TimeDelta::Seconds(1));
  EXPECT_EQ(estimator.pool().selection().pilot, 0u);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
}

TEST(ControllerPoolTest, AUsersFusionOutsideTheMembersRatesIsThePilots) {
  for (const DataRate wild :
       {DataRate::Zero(), Kbps(149), Kbps(201), DataRate::PlusInfinity(), DataRate::MinusInfinity()}) {
    PoolFunctions functions;
    functions.fusion = [wild](DataRate, std::span<const DataRate>) { return wild; };
    BandwidthEstimator estimator({}, PoolOf(ControllersOf(Always(Kbps(200)), Always(Kbps(150))),
                                            {.pilot = {}, .fusion = Fusion::Kind::kUser}, std::move(functions)));
    Drive(estimator, TimeDelta::Seconds(1));
    EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
    EXPECT_GE(estimator.counters().fusion_faults, 9u);
  }
}

TEST(ControllerPoolTest, ALineChangesSeatsInTheCall) {
  BandwidthEstimator estimator({}, MakePool("pilot=fixed copilots=nada,rule"));
  Drive(estimator, TimeDelta::Seconds(1));
  const auto set = [&](const std::string& line) { return estimator.SetPool(ParsePool(line).value()); };
  EXPECT_FALSE(set("pilot=nada copilots=fixed fusion=max policy=by_objective"));
  EXPECT_EQ(estimator.pool().selection().pilot, 1u);
  EXPECT_EQ(estimator.pool().role(0), Role::kCopilot);
  EXPECT_EQ(estimator.pool().role(2), Role::kWatching);
  EXPECT_EQ(set("pilot=vegas")->message, "\"vegas\" is no member of this pool; members are chosen when it is made");
  EXPECT_EQ(set("pilot=nada copilots=fixed,vegas")->message,
            "\"vegas\" is no member of this pool; members are chosen when it is made");
  EXPECT_TRUE(set("pilot=nada fusion=user"));
  EXPECT_EQ(ToString(estimator.pool().specification()), "pilot=nada copilots=fixed fusion=max policy=by_objective");
}

TEST(ControllerPoolTest, AnotherControllerTakesAMembersPlaceInTheCall) {
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator(config, PoolOf(ControllersOf(FaultyBetween(5, 1000, Kbps(200)))));
  estimator.OnRoundTripTime(TimeDelta::Millis(70), Timestamp::Seconds(5));
  Drive(estimator, TimeDelta::Seconds(2));
  ASSERT_TRUE(estimator.pilot_suspended());
  const DataRate before = estimator.latest().target_rate;
  auto next = Always(before * 1.05);
  const ScriptedController& seen = *next;
  EXPECT_EQ(estimator.ReplaceMember("m7", Always(Kbps(1)))->message, "\"m7\" is no member of this pool");
  EXPECT_TRUE(estimator.ReplaceMember("m0", nullptr));
  ASSERT_TRUE(estimator.pilot_suspended());
  ASSERT_FALSE(estimator.ReplaceMember("m0", std::move(next)));
  EXPECT_FALSE(estimator.pilot_suspended());
  EXPECT_EQ(seen.constraints_calls, 1);
  EXPECT_EQ(seen.round_trip_time, TimeDelta::Millis(70));
  EXPECT_EQ(seen.applied, std::vector{before});
  EXPECT_EQ(estimator.latest().target_rate, before);
  Drive(estimator, TimeDelta::Seconds(3));
  EXPECT_EQ(estimator.latest().target_rate, before * 1.05);
  EXPECT_EQ(estimator.latest().reason, EstimateReason::kPilot);
}

TEST(ControllerPoolTest, AMemberCanBeReplacedBeforeTheCallBegins) {
  BandwidthEstimator estimator({}, PoolOf(ControllersOf(Always(Kbps(200)))));
  ASSERT_FALSE(estimator.ReplaceMember("m0", Always(Kbps(250))));
  Drive(estimator, TimeDelta::Seconds(1));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(250));
}

TEST(ControllerPoolTest, AnAnswerThatComesTooLateIsDroppedAndCounts) {
  // By the clock, the decisions 5 to 24 take `slow` each, and the others no time.
  for (const TimeDelta slow : {TimeDelta::Millis(50), TimeDelta::Micros(50'001)}) {
    Timestamp wall = Timestamp::Seconds(100);
    auto pilot = std::make_unique<ScriptedController>([&](int decision) {
      if (decision >= 5 && decision < 25) wall += slow;
      return Kbps(decision >= 5 && decision < 25 ? 900 : 200);
    });
    BandwidthEstimatorConfig config;
    config.guard = false;
    config.decision_limit.clock = [&] { return wall; };
    BandwidthEstimator estimator(config, PoolOf(ControllersOf(std::move(pilot))));
    Drive(estimator, TimeDelta::Millis(1050));
    const bool late = slow > TimeDelta::Millis(50);
    EXPECT_EQ(estimator.counters().late_decisions, late ? 5u : 0u);
    EXPECT_EQ(estimator.counters().policy_faults, late ? 5u : 0u);
    EXPECT_EQ(estimator.pilot_suspended(), late);
    EXPECT_EQ(estimator.latest().target_rate == Kbps(900), !late);
    Drive(estimator, TimeDelta::Millis(5050));
    EXPECT_EQ(estimator.counters().late_decisions, late ? 20u : 0u);
    EXPECT_FALSE(estimator.pilot_suspended());
    EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  }
}

// What the pool does; the veto makes steps, and with these members queues, of its own.
const BandwidthEstimatorConfig kWithoutVeto{.constraints = {}, .objective = {}, .guard_rules = WithoutRule("veto")};

TEST(ControllerPoolTest, UnderMinTheCautiousOneHasTheSayWhoeverSitsWhere) {
  for (const char* line : {"pilot=fixed copilots=nada fusion=min", "pilot=nada copilots=fixed fusion=min"}) {
    BandwidthEstimator estimator(kWithoutVeto, MakePool(line));
    TestCall call(estimator, {.capacity = Steady(Kbps(500))});
    call.RunUntil(TimeDelta::Seconds(40));
    EXPECT_LE(call.Delay(0.95, TimeDelta::Seconds(20), TimeDelta::Seconds(40)), TimeDelta::Millis(120));
  }
}

}  // namespace
}  // namespace weir
