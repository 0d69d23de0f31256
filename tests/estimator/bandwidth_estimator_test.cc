#include "weir/bandwidth_estimator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "controllers/fixed_controller.h"
#include "controllers/rule_controller.h"
#include "made_estimator.h"
#include "test_call.h"
#include "test_pool.h"
#include "weir/remb_sender.h"
#include "weir/supervised_controller.h"
#include "weir/testing/mock_controllers.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(5);
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

// Calls OnTimeout when it is due, up to and including `until`; returns the estimates that were sent, and when.
std::vector<Estimate> Drive(BandwidthEstimator& estimator, RembSender& sender, Timestamp from, Timestamp until) {
  std::vector<Estimate> sent;
  const auto next = [&] { return sender.next_timeout(estimator); };
  for (Timestamp now = std::max(from, next()); now <= until; now = std::max(now, next())) {
    if (sender.OnTimeout(estimator, now).remb_due) {
      EXPECT_EQ(RembFor(estimator).rate, estimator.latest().target_rate);
      sent.push_back(estimator.latest());
      sent.back().at_time = now;
    }
    EXPECT_GT(estimator.next_timeout(), now);
  }
  return sent;
}
void Drive(BandwidthEstimator& estimator, Timestamp from, Timestamp until) {
  RembSender sender;
  Drive(estimator, sender, from, until);
}

// Media has come, and the guard, which begins with the first OnTimeout, has not seen it.
void BeginMedia(BandwidthEstimator& estimator) { estimator.OnPacket(TestStream(77).Next(kStart)); }

TEST(BandwidthEstimatorTest, SpeaksAtOnceAndFromTheStartRate) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>(Kbps(200)));
  EXPECT_TRUE(estimator.next_timeout().IsMinusInfinity());
  EXPECT_EQ(estimator.latest().target_rate, Kbps(300));
  const std::optional<Estimate> estimate = estimator.OnTimeout(kStart);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->target_rate, Kbps(300));
  EXPECT_EQ(estimate->reason.source, TargetSource::kStart);
  EXPECT_EQ(estimate->at_time, kStart);
  EXPECT_EQ(estimator.next_timeout(), kStart + TimeDelta::Millis(100));
}

TEST(BandwidthEstimatorTest, AnEstimateIsReturnedWhenTargetOrReasonChangedAndSentByTheRulesOfRemb) {
  RembSender sender;
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator = MadeEstimator(config, std::make_unique<MockReceiverController>(Kbps(200)));
  std::vector<Estimate> estimates = Drive(estimator, sender, kStart, kStart + TimeDelta::Millis(50));
  TestStream stream;
  estimator.OnPacket(stream.Next(kStart));
  for (const Estimate& estimate : Drive(estimator, sender, kStart, kStart + TimeDelta::Millis(3500))) {
    estimates.push_back(estimate);
  }
  ASSERT_EQ(estimates.size(), 5u);
  EXPECT_EQ(estimates[1].at_time, kStart + TimeDelta::Millis(100));  // a decrease, at once
  EXPECT_EQ(estimates[1].target_rate, Kbps(200));
  EXPECT_EQ(estimates[1].reason.source, TargetSource::kController);
  for (size_t i = 2; i < estimates.size(); ++i) {
    EXPECT_EQ(estimates[i].at_time - estimates[i - 1].at_time, TimeDelta::Seconds(1));
  }
  EXPECT_EQ(sender.rembs_due(), 5u);
  EXPECT_FALSE(estimator.OnTimeout(kStart + TimeDelta::Millis(3600)));
  ASSERT_FALSE(estimator.SetConstraints({Kbps(30), Kbps(30), Kbps(100), kStart + TimeDelta::Millis(3601)}));
  const auto changed = estimator.OnTimeout(kStart + TimeDelta::Millis(3602));
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->target_rate, Kbps(100));
  EXPECT_EQ(ToString(changed->reason), "guard_bounds");
}

// A receiver that nothing is sent to: nobody may be there.
TEST(BandwidthEstimatorTest, WithoutAnyPacketItFallsSilentAndSpeaksWithTheFirst) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>(Kbps(300)));
  RembSender sender;
  const std::vector<Estimate> estimates = Drive(estimator, sender, kStart, kStart + TimeDelta::Seconds(600));
  EXPECT_NEAR(static_cast<double>(estimates.size()), 50, 2);
  EXPECT_LE(estimates.back().at_time, kStart + TimeDelta::Seconds(10));

  TestStream stream;
  const Timestamp first = kStart + TimeDelta::Seconds(600);
  estimator.OnPacket(stream.Next(first));
  const std::vector<Estimate> again = Drive(estimator, sender, first, first + TimeDelta::Millis(125));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].target_rate, Kbps(300));
}

// Targets fall without packets; a call that is set up before its media begins at the start rate.
TEST(BandwidthEstimatorTest, TheStartRateIsInForceUntilMedia) {
  auto pilot = std::make_unique<MockReceiverController>([](int) { return Kbps(120); });
  const MockReceiverController& controller = *pilot;
  BandwidthEstimator estimator = MadeEstimator({}, std::move(pilot));
  RembSender sender;
  for (const Estimate& estimate : Drive(estimator, sender, kStart, kStart + TimeDelta::Seconds(60))) {
    EXPECT_EQ(estimate.target_rate, Kbps(300));
    EXPECT_EQ(estimate.reason.source, TargetSource::kStart);
  }
  EXPECT_GT(estimator.counters().controller.decisions, 500u);
  EXPECT_EQ(controller.events().applied.back(), Kbps(300));
  const Timestamp now = kStart + TimeDelta::Seconds(60);
  EXPECT_FALSE(estimator.SetConstraints({Kbps(30), Kbps(30), Kbps(250), now}));
  Drive(estimator, now, now + TimeDelta::Seconds(1));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(250));

  TestStream stream;
  for (int i = 1; i < 100; ++i) {
    const Timestamp sent = now + TimeDelta::Seconds(1) + TimeDelta::Millis(10 * i);
    estimator.OnPacket(stream.Next(sent, TimeDelta::Zero()));
    Drive(estimator, sent, sent);
  }
  EXPECT_LT(estimator.latest().target_rate, Kbps(250));
  EXPECT_NE(estimator.latest().reason.source, TargetSource::kStart);
}

// Answers once and for all.
class OnceController final : public MockReceiverController {
 public:
  OnceController() : MockReceiverController(Kbps(250)) {}

  std::string_view name() const override { return "once"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override { next_ = constraints.at_time; }
  ReceiverControlUpdate OnTimeout(Timestamp) override {
    next_ = Timestamp::PlusInfinity();
    return {.target_rate = Kbps(250)};
  }
  Timestamp next_timeout() const override { return next_; }

 private:
  Timestamp next_ = Timestamp::PlusInfinity();
};

TEST(BandwidthEstimatorTest, AnAnswerFromBeforeMediaCountsHalfASecondAfterIt) {
  // Without the guard's floor, which holds a start up.
  BandwidthEstimatorConfig config;
  config.guard = false;
  BandwidthEstimator estimator = MadeEstimator(config, std::make_unique<OnceController>());
  Drive(estimator, kStart, kStart + TimeDelta::Seconds(5));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(300));
  TestStream stream;
  for (int i = 0; i < 100; ++i) {
    const Timestamp sent = kStart + TimeDelta::Seconds(5) + TimeDelta::Millis(10 * i);
    estimator.OnPacket(stream.Next(sent, TimeDelta::Zero(), 500));
    Drive(estimator, sent, sent);
    if (i < 50) {
      EXPECT_EQ(estimator.latest().target_rate, Kbps(300)) << i;
    }
  }
  EXPECT_EQ(estimator.latest().target_rate, Kbps(250));
}

TEST(BandwidthEstimatorTest, StatisticsSayWhatAHostShows) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<FixedController>(Kbps(500)));
  TestStream stream;
  // 5 Mbps, one packet in ten lost, the last two seconds with a queue of 8 ms.
  for (int i = 0; i < 2000; ++i) {
    const Timestamp sent = kStart + TimeDelta::Millis(2 * i);
    const PacketArrival packet = stream.Next(sent, TimeDelta::Millis(i < 1000 ? 25 : 33), 1230);
    if (i % 10 != 9) estimator.OnPacket(packet);
    Drive(estimator, sent, sent);
  }
  const Timestamp end = kStart + TimeDelta::Millis(4000 + 32);
  const EstimatorStatistics statistics = estimator.Statistics(end);
  EXPECT_EQ(statistics.target_rate, estimator.latest().target_rate);
  EXPECT_EQ(statistics.reason, estimator.latest().reason);
  EXPECT_NEAR(statistics.last_second.receive_rate / Kbps(4500), 1, 0.02);
  EXPECT_NEAR(static_cast<double>(statistics.last_second.queueing_delay.us()), 8000, 100);
  EXPECT_NEAR(statistics.last_second.loss_ratio, 0.1, 0.01);
  EXPECT_EQ(statistics.total.packets, 1800);
  // The last one's gap is not seen yet.
  EXPECT_EQ(statistics.total.packets_lost, 199);
  EXPECT_EQ(statistics.total.size, DataSize::Bytes(1250) * 1800);
  EXPECT_EQ(statistics.total.packets_with_delay, 1800);
  EXPECT_NEAR(static_cast<double>(statistics.total.queueing_delay.us()), 900 * 8000, 900 * 100);
  EXPECT_EQ(statistics.clock_restarts, 0u);
  EXPECT_TRUE(estimator.Statistics(end + TimeDelta::Seconds(2)).last_second.receive_rate.IsZero());
  EXPECT_TRUE(estimator.Statistics(Timestamp::PlusInfinity()).last_second.receive_rate.IsZero());
}

// The first REMB are lost, and the sender starts where it likes.
TEST(BandwidthEstimatorTest, RepeatsWhileASenderSendsMoreThanItWasTold) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>(Kbps(300)));
  RembSender sender;
  TestStream stream;
  const auto feedbacks = [&](Timestamp from, TimeDelta duration, TimeDelta packet_spacing) {
    size_t count = 0;
    for (Timestamp sent = from; sent < from + duration; sent += packet_spacing) {
      estimator.OnPacket(stream.Next(sent));
      count += Drive(estimator, sender, sent, sent + packet_spacing - TimeDelta::Micros(1)).size();
    }
    return count;
  };
  // 2 Mbps: every 200 ms, but not for ever.
  EXPECT_NEAR(static_cast<double>(feedbacks(kStart, TimeDelta::Seconds(1), TimeDelta::Millis(4))), 6, 1);
  EXPECT_NEAR(
      static_cast<double>(feedbacks(kStart + TimeDelta::Seconds(2), TimeDelta::Seconds(60), TimeDelta::Millis(4))), 60,
      3);
  // 270 kbps, the configured rate.
  EXPECT_NEAR(
      static_cast<double>(feedbacks(kStart + TimeDelta::Seconds(62), TimeDelta::Seconds(60), TimeDelta::Millis(30))),
      60, 1);
}

TEST(BandwidthEstimatorTest, SparseAudioCostsNoRembStorm) {
  // A pilot that cannot make up its mind, by up to 10 % either way.
  const auto feedbacks = [](TimeDelta packet_spacing) {
    BandwidthEstimatorConfig config;
    config.guard = false;
    BandwidthEstimator estimator = MadeEstimator(config, std::make_unique<MockReceiverController>([](int decision) {
                                                   return Kbps(decision % 3 == 0 ? 300 : decision % 3 == 1 ? 320 : 305);
                                                 }));
    RembSender sender;
    TestStream stream;
    int count = 0;
    Timestamp previous = Timestamp::MinusInfinity();
    for (Timestamp sent = kStart; sent < kStart + TimeDelta::Seconds(30); sent += packet_spacing) {
      for (const Estimate& estimate : Drive(estimator, sender, sent, sent + packet_spacing - TimeDelta::Millis(1))) {
        // Before the first packet it is repeated sooner, and once after it.
        if (packet_spacing >= TimeDelta::Millis(400) && sent > kStart + TimeDelta::Seconds(1)) {
          EXPECT_GE(estimate.at_time - previous, TimeDelta::Millis(500));
        }
        previous = estimate.at_time;
        ++count;
      }
      estimator.OnPacket(stream.Next(sent));
    }
    return count;
  };
  // Two a second, and those from before the first packet.
  EXPECT_LE(feedbacks(TimeDelta::Seconds(1)), 63);
  EXPECT_LE(feedbacks(TimeDelta::Millis(400)), 63);
  EXPECT_GE(feedbacks(TimeDelta::Millis(20)), 100);
}

TEST(BandwidthEstimatorTest, IgnoresTimeThatRepeatsOrRunsBackwards) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<RuleController>());
  EXPECT_TRUE(estimator.OnTimeout(kStart));
  const Timestamp next = estimator.next_timeout();
  EXPECT_FALSE(estimator.OnTimeout(kStart));
  EXPECT_FALSE(estimator.OnTimeout(kStart - TimeDelta::Seconds(100)));
  EXPECT_FALSE(estimator.OnTimeout(Timestamp::PlusInfinity()));
  EXPECT_FALSE(estimator.OnTimeout(Timestamp::MinusInfinity()));
  EXPECT_EQ(estimator.next_timeout(), next);
}

TEST(BandwidthEstimatorTest, HandsEverythingToAllControllers) {
  auto pilot = std::make_unique<MockReceiverController>(Kbps(200));
  auto copilot = std::make_unique<MockReceiverController>(Kbps(250));
  auto fallback = std::make_unique<MockReceiverController>(Kbps(100));
  const std::vector<MockReceiverController*> controllers{pilot.get(), copilot.get(), fallback.get()};
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::move(pilot), std::move(copilot)), {}, {}, std::move(fallback)));
  TestStream stream;
  estimator.OnPacket(stream.Next(kStart));  // before life begins
  EXPECT_FALSE(estimator.SetObjective(kThroughput));
  estimator.OnRoundTripTime(TimeDelta::Millis(80), kStart);
  EXPECT_TRUE(estimator.OnTimeout(kStart));
  const PacketArrival packet = stream.Next(kStart);
  estimator.OnPacket(packet);
  estimator.OnPacket(packet);  // a duplicate
  Drive(estimator, kStart, kStart + TimeDelta::Millis(150));
  for (const MockReceiverController* controller : controllers) {
    EXPECT_EQ(controller->events().constraints.size(), 1u);
    EXPECT_EQ(controller->events().objectives.back(), kThroughput);
    EXPECT_EQ(controller->events().round_trip_times.back(), TimeDelta::Millis(80));
    EXPECT_EQ(controller->events().arrivals.size(), 1u);
    ASSERT_FALSE(controller->events().applied.empty());
    EXPECT_EQ(controller->events().applied.back(), Kbps(200));
  }
  EXPECT_FALSE(estimator.SetObjective(kLatency));
  for (const MockReceiverController* controller : controllers)
    EXPECT_EQ(controller->events().objectives.back(), kLatency);
}

TEST(BandwidthEstimatorTest, OneFaultHoldsTheRate) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>([](int decision) {
                                                 return decision % 3 == 1 ? std::nullopt : std::optional(Kbps(200));
                                               }));
  BeginMedia(estimator);
  Drive(estimator, kStart, kStart + TimeDelta::Millis(250));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kHeld);
  Drive(estimator, kStart, kStart + TimeDelta::Seconds(10));
  EXPECT_FALSE(estimator.controller().active().suspended);
  EXPECT_EQ(estimator.counters().controller.fallback_decisions, 0u);
  EXPECT_NEAR(static_cast<double>(estimator.counters().controller.faults), 33, 1);
}

TEST(BandwidthEstimatorTest, RepeatedFaultsBringTheFallbackAndRecoveryIsSlow) {
  // Faults in decisions 10 to 19, of three kinds.
  auto pilot = std::make_unique<MockReceiverController>([](int decision) -> std::optional<DataRate> {
    if (decision < 10 || decision >= 20) return Kbps(200);
    if (decision % 3 == 0) return DataRate::Zero();
    if (decision % 3 == 1) return DataRate::PlusInfinity();
    return std::nullopt;
  });
  BandwidthEstimator estimator = MadeEstimator(
      {}, SupervisedController::Of(std::move(pilot), std::make_unique<MockReceiverController>(Kbps(120))));
  BeginMedia(estimator);
  const auto run_to = [&](int64_t ms) { Drive(estimator, kStart, kStart + TimeDelta::Millis(ms)); };
  run_to(1250);  // two faults
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kHeld);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(200));
  run_to(1350);  // three
  EXPECT_TRUE(estimator.controller().active().suspended);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kFallback);
  EXPECT_EQ(estimator.latest().target_rate, Kbps(120));
  run_to(3950);  // 19 good decisions
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kFallback);
  run_to(4050);
  EXPECT_FALSE(estimator.controller().active().suspended);
  EXPECT_EQ(ToString(estimator.latest().reason), "guard_slew");
  EXPECT_EQ(estimator.counters().controller.faults, 10u);
  EXPECT_EQ(estimator.counters().controller.decisions, 30u);
  EXPECT_NEAR(static_cast<double>(estimator.counters().controller.fallback_decisions), 28, 1);
}

TEST(BandwidthEstimatorTest, APilotThatNeverWorksIsACallOnTheRule) {
  BandwidthEstimator estimator =
      MadeEstimator({}, std::make_unique<MockReceiverController>([](int) { return std::nullopt; }));
  TestCall call(estimator, {.capacity = Steady(Kbps(2000))});
  call.RunUntil(TimeDelta::Seconds(20));
  const double utilisation = call.ReceiveRate(TimeDelta::Seconds(10), TimeDelta::Seconds(20)) / Kbps(2000);
  EXPECT_GE(utilisation, 0.85);
  EXPECT_LE(utilisation, 1.0);
  EXPECT_EQ(estimator.latest().reason.source, TargetSource::kFallback);
}

TEST(BandwidthEstimatorTest, APolicyThatAlwaysWantsTheMaximumIsHeldNearWhatArrives) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>(Kbps(50'000)));
  TestCall call(estimator, {.capacity = Steady(Kbps(1000))});
  call.RunUntil(TimeDelta::Seconds(30));
  // 0.6 to 0.95 times while the queue that it makes stays.
  EXPECT_GE(estimator.latest().target_rate, Kbps(550));
  EXPECT_LE(estimator.latest().target_rate, Kbps(3300));
  EXPECT_GT(estimator.counters().guard.Of("veto"), 0u);
}

TEST(BandwidthEstimatorTest, APolicyReaches5MbpsWithinTwoSecondsWhereTheLinkLetsIt) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<MockReceiverController>(Kbps(5000)));
  TestCall call(estimator, {.capacity = Steady(Kbps(20'000))});
  call.RunUntil(TimeDelta::Millis(2100));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(5000));
  call.RunUntil(TimeDelta::Millis(4000));
  EXPECT_NEAR(call.ReceiveRate(TimeDelta::Millis(2500), TimeDelta::Millis(4000)) / Kbps(5000), 1, 0.02);
}

TEST(BandwidthEstimatorTest, NewBoundsTakeEffectAtOnce) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<FixedController>(Kbps(300)));
  Drive(estimator, kStart, kStart + TimeDelta::Millis(500));
  const Timestamp now = kStart + TimeDelta::Millis(501);
  EXPECT_TRUE(estimator.SetConstraints({Kbps(200), Kbps(200), Kbps(100), now}));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(300));
  EXPECT_FALSE(estimator.SetConstraints({Kbps(30), Kbps(30), Kbps(100), now}));
  EXPECT_EQ(estimator.latest().target_rate, Kbps(100));
  EXPECT_LE(estimator.next_timeout(), now);
  const std::optional<Estimate> estimate = estimator.OnTimeout(now);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->target_rate, Kbps(100));
}

TEST(BandwidthEstimatorTest, AbsurdRoundTripTimesAreIgnored) {
  auto pilot = std::make_unique<MockReceiverController>(Kbps(200));
  const MockReceiverController& controller = *pilot;
  BandwidthEstimator estimator = MadeEstimator({}, std::move(pilot));
  EXPECT_TRUE(estimator.OnTimeout(kStart));
  for (const TimeDelta rtt : {TimeDelta::Zero(), TimeDelta::Millis(-5), TimeDelta::Seconds(3600),
                              TimeDelta::PlusInfinity(), TimeDelta::MinusInfinity()}) {
    estimator.OnRoundTripTime(rtt, kStart);
  }
  EXPECT_TRUE(controller.events().round_trip_times.empty());
}

TEST(BandwidthEstimatorTest, ReturnsEachPacketAsTheControllerReceivesItAndTheTimeOfEachDecision) {
  auto pilot = std::make_unique<MockReceiverController>(Kbps(200));
  const MockReceiverController& seen = *pilot;
  BandwidthEstimator estimator = MadeEstimator({}, std::move(pilot));
  estimator.OnRoundTripTime(TimeDelta::Millis(50), kStart);
  EXPECT_TRUE(seen.events().round_trip_times.empty());
  size_t arrivals = 0;
  std::vector<std::pair<Timestamp, DataRate>> targets;
  const auto follow = [&] {
    const Estimate& latest = estimator.latest();
    if (targets.empty() || targets.back().first != latest.at_time)
      targets.emplace_back(latest.at_time, latest.target_rate);
    EXPECT_EQ(targets.back().second, latest.target_rate);
  };
  for (int i = 0; i < 1000; ++i) {
    const Timestamp now = kStart + TimeDelta::Millis(i);
    const PacketArrival packet{.arrival_time = now, .ssrc = 1, .sequence_number = static_cast<uint16_t>(i)};
    if (estimator.next_timeout() <= now) static_cast<void>(estimator.OnTimeout(now));
    follow();
    const std::optional<Arrival> arrival = estimator.OnPacket(packet);
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->packet.sequence_number, i);
    EXPECT_EQ(seen.events().arrivals.size(), ++arrivals);
    EXPECT_FALSE(estimator.OnPacket(packet));
    EXPECT_EQ(seen.events().arrivals.size(), arrivals);
  }
  EXPECT_EQ(seen.events().round_trip_times.back(), TimeDelta::Millis(50));
  // The start, and every decision.
  EXPECT_EQ(targets.size(), seen.events().applied.size() + 1);
  EXPECT_EQ(targets.front(), std::pair(kStart, Kbps(300)));
  TargetRateConstraints constraints;
  constraints.max_rate = Kbps(100);
  constraints.start_rate = Kbps(100);
  constraints.at_time = kStart + TimeDelta::Seconds(1);
  ASSERT_FALSE(estimator.SetConstraints(constraints));
  follow();
  EXPECT_EQ(targets.back(), std::pair(constraints.at_time, Kbps(100)));
}

TEST(BandwidthEstimatorTest, AControllerThatIsForEverDueDoesNotSpinTheHost) {
  class Due final : public MockReceiverController {
   public:
    Due() : MockReceiverController(Kbps(200)) {}

    std::string_view name() const override { return "due"; }
    Timestamp next_timeout() const override { return Timestamp::MinusInfinity(); }
  };
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<Due>());
  EXPECT_TRUE(estimator.OnTimeout(kStart));
  EXPECT_EQ(estimator.next_timeout(), kStart + TimeDelta::Millis(1));
}

TEST(BandwidthEstimatorTest, SurvivesASuspendedMachine) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<RuleController>());
  TestStream stream;
  Timestamp now = kStart;
  for (int i = 0; i < 100; ++i, now += TimeDelta::Millis(10)) {
    estimator.OnPacket(stream.Next(now));
    Drive(estimator, now, now);
  }
  const Timestamp resumed = now + TimeDelta::Seconds(3 * 3600);
  estimator.OnPacket(stream.Next(resumed - TimeDelta::Millis(25)));
  Drive(estimator, resumed, resumed);
  EXPECT_GE(estimator.latest().target_rate, Kbps(30));
  EXPECT_LE(estimator.latest().target_rate, Kbps(2000));
  EXPECT_LE(estimator.next_timeout(), resumed + TimeDelta::Seconds(1));
}

TEST(BandwidthEstimatorTest, AnInvalidConfigurationIsAnError) {
  const auto error_of = [](const BandwidthEstimatorConfig& config) {
    const auto made = BandwidthEstimator::Create(config, nullptr);
    return made ? std::string() : made.error();
  };
  EXPECT_EQ(error_of({}), "");
  BandwidthEstimatorConfig reversed;
  reversed.constraints.min_rate = Kbps(60'000);
  EXPECT_NE(error_of(reversed).find("min_rate at most max_rate"), std::string::npos);
  for (const Objective& objective : {Objective{0.4f, 0.4f, 0.4f}, Objective{1, 0, 0}, Objective{NAN, 0.5f, 0.5f}}) {
    BandwidthEstimatorConfig unweighted;
    unweighted.objective = objective;
    EXPECT_NE(error_of(unweighted).find("sum to 1"), std::string::npos);
  }
  BandwidthEstimatorConfig no_time;
  no_time.decision_limit.longest = TimeDelta::Zero();
  EXPECT_NE(error_of(no_time).find("decision limit"), std::string::npos);
}

TEST(BandwidthEstimatorTest, AnInvalidObjectiveChangesNothing) {
  auto scripted = std::make_unique<MockReceiverController>(Kbps(200));
  const MockReceiverController& controller = *scripted;
  BandwidthEstimator estimator = MadeEstimator({.constraints = {}, .objective = kLatency}, std::move(scripted));
  estimator.OnTimeout(Timestamp::Seconds(1));
  EXPECT_TRUE(estimator.SetObjective({.throughput = 4, .latency = 5, .loss = 1}));
  EXPECT_EQ(controller.events().objectives.back(), kLatency);
}

TEST(BandwidthEstimatorTest, ReasonsHaveNames) {
  EXPECT_EQ(ToString(EstimateReason{}), "start");
  EXPECT_EQ(ToString(EstimateReason{TargetSource::kController}), "controller");
  EXPECT_EQ(ToString({TargetSource::kCandidate}), "candidate");
  EXPECT_EQ(ToString({TargetSource::kController, 0}), "guard_finite");
}

}  // namespace
}  // namespace weir
