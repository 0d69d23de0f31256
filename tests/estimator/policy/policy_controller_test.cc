#include "policy/policy_controller.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "made_estimator.h"
#include "test_models.h"
#include "weir/bandwidth_estimator.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Millis(5'000);

std::unique_ptr<PolicyController> MakeController(const std::string& model) {
  auto controller = std::make_unique<PolicyController>(LoadTestModel(model));
  controller->OnTargetRateConstraints({.at_time = kStart});
  return controller;
}

Arrival ArrivalAt(Timestamp time, int64_t sequence_number, uint32_t size = 1250) {
  Arrival arrival;
  arrival.packet.arrival_time = time;
  arrival.packet.payload_size = size;
  arrival.sequence_number = sequence_number;
  arrival.has_delay = true;
  return arrival;
}

// Packets of 1250 bytes at an even pace for `duration` from `from` on.
void Feed(ReceiverController& controller, Timestamp from, TimeDelta duration, DataRate rate) {
  const TimeDelta gap = DataSize::Bytes(1250) / rate;
  int64_t sequence_number = 0;
  for (Timestamp t = from; t < from + duration; t += gap) controller.OnArrival(ArrivalAt(t, sequence_number++));
}

// Feeds one interval at `rate` and returns the target at its end.
std::optional<DataRate> Decide(PolicyController& controller, DataRate rate) {
  const Timestamp end = controller.next_timeout();
  if (!rate.IsZero())
    Feed(controller, end - controller.description().interval, controller.description().interval, rate);
  const ReceiverControlUpdate update = controller.OnTimeout(end);
  if (!update.target_rate) return std::nullopt;
  return *update.target_rate;
}

double DecideBps(PolicyController& controller, DataRate rate) {
  const auto target = Decide(controller, rate);
  EXPECT_TRUE(target.has_value());
  return target ? static_cast<double>(target->bps()) : 0;
}

TEST(PolicyControllerTest, IsAReceiverSideControllerNamedWeir) {
  const auto controller = MakeController("rate_bps");
  EXPECT_EQ(controller->name(), "weir");
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

TEST(PolicyControllerTest, LogRateActionInterpolatesGeometrically) {
  const auto controller = MakeController("log_rate");
  // No packets: action 0, halfway between the bounds in logarithms.
  EXPECT_NEAR(DecideBps(*controller, DataRate::Zero()), std::sqrt(30e3 * 50e6), 2);
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(1000)),
              30e3 * std::pow(50e6 / 30e3, (1 + std::tanh(1.0)) / 2), 50);
}

TEST(PolicyControllerTest, RelativeActionScalesTheRateInForce) {
  const auto controller = MakeController("relative");
  // Action -2 at 2 Mbps: MOCC Eq. 1 with alpha 0.025.
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(2000)), 300e3 / 1.05, 2);
  controller->OnTargetApplied({kStart, DataRate::KilobitsPerSecond(1000)});
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(2000)), 1000e3 / 1.05, 2);
}

TEST(PolicyControllerTest, DiscreteActionPicksAMultiplier) {
  const auto controller = MakeController("discrete");
  // The scores fall with the index: always the first, 0.5.
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(800)), 150e3, 1);
  EXPECT_NEAR(DecideBps(*controller, DataRate::KilobitsPerSecond(800)), 75e3, 1);
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
  // Two intervals without packets before the call count as well.
  EXPECT_NEAR(DecideBps(*controller, DataRate::Zero()), 3e6, 1);
  EXPECT_NEAR(DecideBps(*controller, DataRate::Zero()), 4e6, 1);
  const auto late = controller->OnTimeout(controller->next_timeout() + TimeDelta::Seconds(3 * 3600));
  EXPECT_NEAR(static_cast<double>(late.target_rate->bps()), 1e6, 1);
}

TEST(PolicyControllerTest, AFaultIsCountedAndGivesNoTarget) {
  const auto controller = MakeController("nan_between_1_and_2_mbps");
  EXPECT_TRUE(Decide(*controller, DataRate::KilobitsPerSecond(3000)));
  EXPECT_FALSE(Decide(*controller, DataRate::KilobitsPerSecond(1500)));
  EXPECT_FALSE(Decide(*controller, DataRate::KilobitsPerSecond(1400)));
  EXPECT_EQ(controller->faults().non_finite_output, 2u);
  EXPECT_EQ(controller->faults().total(), 2u);
  EXPECT_TRUE(Decide(*controller, DataRate::KilobitsPerSecond(3000)));
}

TEST(PolicyControllerTest, TheRuleCarriesTheCallWhileTheModelFails) {
  BandwidthEstimator estimator =
      MadeEstimator({}, std::make_unique<PolicyController>(LoadTestModel("nan_between_1_and_2_mbps")));
  Timestamp now = kStart;
  uint16_t sequence_number = 0;
  const auto run = [&](TimeDelta duration, DataRate rate) {
    const Timestamp end = now + duration;
    const TimeDelta gap = DataSize::Bytes(1250) / rate;
    for (; now < end; now += gap) {
      while (estimator.next_timeout() <= now) {
        const auto estimate = estimator.OnTimeout(now);
        if (!estimate) continue;
        EXPECT_GE(estimate->target_rate, DataRate::KilobitsPerSecond(30));
        EXPECT_LE(estimate->target_rate, DataRate::KilobitsPerSecond(50'000));
      }
      PacketArrival packet;
      packet.arrival_time = now;
      packet.ssrc = 1;
      packet.sequence_number = sequence_number++;
      packet.has_abs_send_time = true;
      packet.abs_send_time = static_cast<uint32_t>((now.us() - 25'000) * (1 << 18) / 1'000'000) & 0xffffff;
      packet.payload_size = 1250;
      estimator.OnPacket(packet);
    }
  };
  run(TimeDelta::Seconds(5), DataRate::KilobitsPerSecond(300));
  EXPECT_EQ(estimator.counters().controller.faults, 0u);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kController);
  run(TimeDelta::Seconds(5), DataRate::KilobitsPerSecond(1500));
  EXPECT_TRUE(estimator.controller().active().suspended);
  EXPECT_NEAR(static_cast<double>(estimator.counters().controller.faults), 50, 2);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kFallback);
  // The rule, unlike the model, can handle 1.5 Mbps: its target is up to twice that.
  EXPECT_GT(estimator.latest().target_rate, DataRate::KilobitsPerSecond(1500));
  EXPECT_LT(estimator.latest().target_rate, DataRate::KilobitsPerSecond(3300));
  // Longer than the guard remembers what the path carried.
  run(TimeDelta::Seconds(15), DataRate::KilobitsPerSecond(300));
  EXPECT_FALSE(estimator.controller().active().suspended);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kController);
}

TEST(PolicyControllerTest, SameCallsGiveTheSameTargets) {
  const auto run = [] {
    const auto controller = MakeController("mocc_sized");
    std::vector<int64_t> targets;
    for (int i = 1; i <= 200; ++i) {
      targets.push_back(Decide(*controller, DataRate::KilobitsPerSecond(100 + 37 * (i % 50)))->bps());
    }
    return targets;
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace weir
