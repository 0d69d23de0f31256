// Policies that keep the rate low on a free path, after they did well for a minute or from the start, behind the guard
// alone and in a pool.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "made_estimator.h"
#include "test_call.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/testing/mock_controllers.h"

namespace weir {
namespace {

constexpr DataRate kCapacity = DataRate::KilobitsPerSecond(3000);
constexpr TimeDelta kWakesUp = TimeDelta::Seconds(60);

// Targets of a policy that no longer does its work, by the rate in force.
using Answer = std::function<DataRate(DataRate target)>;

// The ten-line rule, which from some time on answers something else.
class Sleeper final : public ReceiverController {
 public:
  Sleeper(TimeDelta wakes_up_after, Answer answer) : wakes_up_after_(wakes_up_after), answer_(std::move(answer)) {}

  std::string_view name() const override { return "sleeper"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    wakes_up_at_ = constraints.at_time + wakes_up_after_;
    rule_.OnTargetRateConstraints(constraints);
  }
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnArrival(const Arrival& arrival) override { rule_.OnArrival(arrival); }
  void OnTargetApplied(const TargetTransferRate& target) override {
    target_ = target.target_rate;
    rule_.OnTargetApplied(target);
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    ReceiverControlUpdate update = rule_.OnTimeout(now);
    if (now >= wakes_up_at_ && update.target_rate) update.target_rate = answer_(target_);
    return update;
  }
  Timestamp next_timeout() const override { return rule_.next_timeout(); }

 private:
  const TimeDelta wakes_up_after_;
  const Answer answer_;
  RuleController rule_;
  Timestamp wakes_up_at_ = Timestamp::PlusInfinity();
  DataRate target_ = DataRate::Zero();
};

struct StarvingCase {
  std::string name;
  Answer answer;
};

const StarvingCase kMinimum{"Minimum", [](DataRate) { return DataRate::KilobitsPerSecond(30); }};
const StarvingCase kTwiceTheMinimum{"TwiceTheMinimum", [](DataRate) { return DataRate::KilobitsPerSecond(60); }};
const StarvingCase kATwentieth{"ATwentieth", [](DataRate) { return kCapacity * 0.05; }};
const StarvingCase kOneMore{"OneMore", [](DataRate target) { return target + DataRate::BitsPerSecond(1); }};
const StarvingCase kAFifth{"AFifth", [](DataRate) { return kCapacity * 0.2; }};
const StarvingCase kUpAndDown{"UpAndDown", [up = false](DataRate target) mutable {
                                up = !up;
                                return target * (up ? 1.1 : 0.9);
                              }};

// Share of a link that carries a quarter until ten seconds after the policy woke up.
double Utilisation(BandwidthEstimator estimator) {
  TestCall call(estimator, {.capacity = [](TimeDelta time) {
                  return time < kWakesUp + TimeDelta::Seconds(10) ? kCapacity * 0.25 : kCapacity;
                }});
  call.RunUntil(TimeDelta::Seconds(240));
  return call.ReceiveRate(TimeDelta::Seconds(120), TimeDelta::Seconds(240)) / kCapacity;
}

class StarvingPolicyTest : public testing::TestWithParam<StarvingCase> {};

TEST_P(StarvingPolicyTest, IsOverruledByTheGuard) {
  for (const TimeDelta wakes_up_after : {TimeDelta::Zero(), kWakesUp}) {
    BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<Sleeper>(wakes_up_after, GetParam().answer));
    EXPECT_GT(Utilisation(std::move(estimator)), 0.75) << wakes_up_after.seconds();
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, StarvingPolicyTest, testing::Values(kMinimum, kTwiceTheMinimum),
                         [](const auto& info) { return info.param.name; });

class StarvingPilotTest : public testing::TestWithParam<StarvingCase> {};

TEST_P(StarvingPilotTest, LosesItsSeat) {
  for (const TimeDelta wakes_up_after : {TimeDelta::Zero(), kWakesUp}) {
    BandwidthEstimator estimator =
        MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<Sleeper>(wakes_up_after, GetParam().answer),
                                               std::make_unique<NadaController>(), std::make_unique<RuleController>()),
                                 {.pilot = {}, .policy = PilotPolicyKind::kByTrust}));
    EXPECT_GT(Utilisation(std::move(estimator)), 0.6) << wakes_up_after.seconds();
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, StarvingPilotTest,
                         testing::Values(kMinimum, kTwiceTheMinimum, kATwentieth, kAFifth, kOneMore, kUpAndDown),
                         [](const auto& info) { return info.param.name; });

// Such a pilot from the start: near the minimum a few packets come in a second, and the copilots must rise from there.
TEST(StuckPilotTest, NeverHoldsTheCopilots) {
  for (const double pilot_bps : {1.0, 30e3, 45e3, 65e3, 70e3}) {
    for (const double capacity_bps : {1e6, 3e6, 8.5e6}) {
      for (const double jitter_s : {0.0, 0.005, 0.02}) {
        SCOPED_TRACE(testing::Message() << pilot_bps << " bps, link " << capacity_bps << ", jitter " << jitter_s);
        const DataRate capacity = DataRate::BitsPerSecondF(capacity_bps);
        using Made = Result<std::unique_ptr<ReceiverController>>;
        const auto make_member = [&](const std::string& name) -> Made {
          if (name == "stuck")
            return Made(std::make_unique<MockReceiverController>(DataRate::BitsPerSecondF(pilot_bps)));
          return Made(MakeBuiltInController(name, capacity));
        };
        auto pool =
            PoolController::Create(ParsePool("pilot=stuck copilots=nada,rule policy=by_trust").value(), make_member);
        BandwidthEstimator estimator = MadeEstimator({}, std::move(pool.value()));
        std::mt19937 random(1);
        TestPath path{.capacity = Steady(capacity)};
        path.goes_on = [&](TimeDelta time) {
          return time + TimeDelta::SecondsF(jitter_s * static_cast<double>(random() % 1000) / 1000);
        };
        TestCall call(estimator, path);
        for (int64_t second = 15; second <= 60; ++second) {
          call.RunUntil(TimeDelta::Seconds(second));
          EXPECT_GT(estimator.latest().target_rate, capacity * 0.3) << second;
        }
      }
    }
  }
}

// Packets of slow video are small and soon transmitted; full ones that follow take longer, but none waits for another.
TEST(StarveRuleTest, TheTransmissionOfAPacketIsNoQueue) {
  for (const TimeDelta wakes_up_after : {TimeDelta::Zero(), kWakesUp}) {
    for (const int64_t capacity_kbps : {300, 1000, 2500, 8000}) {
      SCOPED_TRACE(testing::Message() << capacity_kbps << " kbps, after " << wakes_up_after.seconds() << " s");
      const DataRate capacity = DataRate::KilobitsPerSecond(capacity_kbps);
      BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<Sleeper>(wakes_up_after, kMinimum.answer));
      TestCall call(estimator, {.capacity = Steady(capacity), .frames_per_second = 30});
      const TimeDelta from = wakes_up_after + TimeDelta::Seconds(25), to = wakes_up_after + TimeDelta::Seconds(60);
      call.RunUntil(to);
      EXPECT_GT(call.ReceiveRate(from, to) / capacity, 0.75);
      EXPECT_LT(call.Delay(0.9, from, to), TimeDelta::Millis(200));
    }
  }
}

// A policy that yields to a queue is not held where the queue stays.
TEST(StarveRuleTest, AQueueDrains) {
  const TimeDelta falls = TimeDelta::Seconds(40);
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<Sleeper>(TimeDelta::Zero(), kMinimum.answer));
  TestCall call(estimator, {.capacity = [=](TimeDelta time) { return time < falls ? kCapacity : kCapacity * 0.2; },
                            .queue = TimeDelta::Millis(1000),
                            .frames_per_second = 30});
  call.RunUntil(falls + TimeDelta::Seconds(10));
  EXPECT_LT(call.Delay(0.5, falls, falls + TimeDelta::Seconds(10)), TimeDelta::Millis(200));
}

// On a link that carries little, little is right; and what the guard adds is never more than arrives.
TEST(StarveRuleTest, ALowRateOnALowLinkIsNone) {
  const DataRate capacity = DataRate::KilobitsPerSecond(50);
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<Sleeper>(TimeDelta::Zero(), kMinimum.answer));
  TestCall call(estimator, {.capacity = Steady(capacity), .queue = TimeDelta::Millis(1000)});
  call.RunUntil(TimeDelta::Seconds(120));
  EXPECT_LT(call.Delay(0.9, TimeDelta::Seconds(60), TimeDelta::Seconds(120)), TimeDelta::Millis(500));
}

// Nor is that of a sender that has little to send.
TEST(StarveRuleTest, ASenderOfLittleIsNotStarved) {
  BandwidthEstimator estimator =
      MadeEstimator({}, std::make_unique<Sleeper>(TimeDelta::Zero(), kTwiceTheMinimum.answer));
  TestCall call(estimator, {.capacity = Steady(kCapacity),
                            .max_media_rate = [](TimeDelta) { return DataRate::KilobitsPerSecond(20); }});
  call.RunUntil(TimeDelta::Seconds(120));
  EXPECT_EQ(estimator.counters().guard.Of("starve"), 0u);
}

}  // namespace
}  // namespace weir
