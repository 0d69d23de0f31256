#include "weir/policy_controller.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test_policies.h"
#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Millis(5'000);

std::unique_ptr<PolicyController> MakeController(const std::string& model) {
  auto controller = std::make_unique<PolicyController>(LoadTestModel(model));
  controller->OnTargetRateConstraints({.at_time = kStart});
  return controller;
}

// Feeds one interval of packets of 1250 bytes at `rate` and returns the target at its end.
std::optional<DataRate> Decide(PolicyController& controller, DataRate rate) {
  const Timestamp end = controller.next_timeout();
  if (!rate.IsZero()) {
    const TimeDelta gap = DataSize::Bytes(1250) / rate;
    for (Timestamp t = end - controller.description().interval; t < end; t += gap) {
      controller.OnArrival(ArrivalOf(t, 1250));
    }
  }
  return controller.OnTimeout(end).target_rate;
}

double DecideBps(PolicyController& controller, DataRate rate) {
  const auto target = Decide(controller, rate);
  EXPECT_TRUE(target.has_value());
  return target ? static_cast<double>(target->bps()) : 0;
}

TEST(PolicyControllerTest, DecidesOncePerInterval) {
  PolicyController controller(LoadTestModel("rate_bps"));
  EXPECT_EQ(controller.next_timeout(), Timestamp::PlusInfinity());
  controller.OnTargetRateConstraints({.at_time = kStart});
  EXPECT_EQ(controller.next_timeout(), kStart + TimeDelta::Millis(100));
  EXPECT_FALSE(controller.OnTimeout(kStart + TimeDelta::Millis(99)).target_rate);
  EXPECT_TRUE(controller.OnTimeout(kStart + TimeDelta::Millis(103)).target_rate);
  // Lateness does not accumulate ...
  EXPECT_EQ(controller.next_timeout(), kStart + TimeDelta::Millis(200));
  // ... and what was missed is not made up for.
  EXPECT_TRUE(controller.OnTimeout(kStart + TimeDelta::Millis(777)).target_rate);
  EXPECT_EQ(controller.next_timeout(), kStart + TimeDelta::Millis(877));
}

TEST(PolicyControllerTest, RateActionFollowsTheReceiveRateItIsShown) {
  const auto controller = MakeController("rate_bps");
  controller->OnObjective(kThroughput);
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(2000)), 2e6 + 800, 1);
  controller->OnObjective(kLatency);
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(500)), 5e5 + 100, 1);
}

// The model adds 1000 bps times the weight of throughput to its rate.
TEST(PolicyControllerTest, WhereAShortQueueDropsPacketsHalfOfTheWeightOfThroughputGoesToLatency) {
  const auto controller = MakeController("rate_bps");
  controller->OnTargetApplied({.target_rate = DataRate::KilobitsPerSecond(500), .has_queue_to_yield = true});
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(500)), 5e5 + 250, 1);
  controller->OnTargetApplied({.target_rate = DataRate::KilobitsPerSecond(500)});
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(500)), 5e5 + 500, 1);
}

TEST(PolicyControllerTest, RelativeActionScalesTheRateInForce) {
  const auto controller = MakeController("relative");
  // Action -2 at 2 Mbps: MOCC Eq. 1 with alpha 0.025.
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(2000)), 300e3 / 1.05, 2);
  controller->OnTargetApplied({kStart, DataRate::KilobitsPerSecond(1000)});
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(2000)), 1000e3 / 1.05, 2);
}

// The model returns the receive rate of the latest interval.
TEST(PolicyControllerTest, IntervalsBetweenFewFramesChangeNeitherTargetNorObservation) {
  const auto controller = MakeController("rate_bps");
  controller->OnObjective(kLatency);
  const auto frame = [&] {
    const Timestamp end = controller->next_timeout();
    for (int i = 0; i < 22; ++i)
      controller->OnArrival(ArrivalOf(end - TimeDelta::Millis(50) + TimeDelta::Micros(500 * i), 1250));
    return controller->OnTimeout(end).target_rate;
  };
  frame();
  // Until the first gap has ended, it may be an outage.
  EXPECT_LT(DecideBps(*controller, DataRate::Zero()), 100e3);
  for (int n = 0; n < 5; ++n) {
    const auto target = frame();
    ASSERT_TRUE(target.has_value());
    EXPECT_NEAR(static_cast<double>(target->bps()), 2.2e6, 1e3);
    controller->OnTargetApplied({controller->next_timeout(), *target});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Decide(*controller, DataRate::Zero()), target) << n << " " << i;
  }
  // Three periods without a packet are an outage.
  double lowest = 1e9;
  for (int i = 0; i < 12; ++i) lowest = std::min(lowest, DecideBps(*controller, DataRate::Zero()));
  EXPECT_LT(lowest, 100e3);
}

// The loss of the latest interval after eleven seconds in which every second packet is lost, as the policy sees it.
double LossSeen(double loss_ratio_at_any_rate) {
  PolicyController controller(LoadTestModel("rate_bps"));
  controller.OnTargetRateConstraints({.at_time = kStart});
  for (int i = 0; i < 1100; ++i) {
    controller.OnArrival(ArrivalOf(kStart + TimeDelta::Millis(10 * i), 1250, TimeDelta::Zero(), /*lost_change=*/1));
    if (i % 10 != 9) continue;
    static_cast<void>(controller.OnTimeout(kStart + TimeDelta::Millis(10 * i + 10)));
    controller.OnTargetApplied(
        {.target_rate = DataRate::KilobitsPerSecond(2000), .loss_ratio_at_any_rate = loss_ratio_at_any_rate});
  }
  constexpr size_t kLossRatio = 1;
  return controller.ObservationAt(kStart + TimeDelta::Seconds(11))[kLossRatio];
}

TEST(PolicyControllerTest, SeesLittleOfTheLossThatNoRateEnds) {
  const double whole = LossSeen(0);
  EXPECT_EQ(LossSeen(0.05), whole);
  EXPECT_NEAR(LossSeen(0.2), whole * 0.35 / 0.5, 1e-6);
  EXPECT_NEAR(LossSeen(0.5), whole * 0.05 / 0.5, 1e-6);
  EXPECT_EQ(LossSeen(1), LossSeen(0.5)) << "never more than what is lost";
}

TEST(PolicyControllerTest, StaysWithinTheHostsConstraints) {
  const auto controller = MakeController("rate_bps");
  const TargetRateConstraints constraints{DataRate::KilobitsPerSecond(100), DataRate::KilobitsPerSecond(300),
                                          DataRate::KilobitsPerSecond(1000), kStart};
  controller->OnTargetRateConstraints(constraints);
  EXPECT_EQ(Decide(*controller, DataRate::KilobitsPerSecond(5000)), constraints.max_rate);
  EXPECT_EQ(Decide(*controller, DataRate::Zero()), constraints.min_rate);
}

TEST(PolicyControllerTest, ForgetsItsStateAfterALongGap) {
  const auto controller = MakeController("recurrent");
  EXPECT_NEAR(DecideBps(*controller, DataRate::Zero()), 1e6, 1);
  EXPECT_NEAR(DecideBps(*controller, DataRate::Zero()), 2e6, 1);
  const auto late = controller->OnTimeout(controller->next_timeout() + TimeDelta::Seconds(3 * 3600));
  EXPECT_NEAR(static_cast<double>(late.target_rate->bps()), 1e6, 1);
}

TEST(PolicyControllerTest, AFaultGivesNoTarget) {
  const auto controller = MakeController("nan_between_1_and_2_mbps");
  EXPECT_TRUE(Decide(*controller, DataRate::KilobitsPerSecond(3000)));
  EXPECT_FALSE(Decide(*controller, DataRate::KilobitsPerSecond(1500)));
  EXPECT_FALSE(Decide(*controller, DataRate::KilobitsPerSecond(1400)));
  EXPECT_TRUE(Decide(*controller, DataRate::KilobitsPerSecond(3000)));
}

}  // namespace
}  // namespace weir
