#include "weir/testing/unlimited_controllers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "made_estimator.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(100);
constexpr TargetRateConstraints kBounds{.min_rate = DataRate::KilobitsPerSecond(50),
                                        .start_rate = DataRate::KilobitsPerSecond(300),
                                        .max_rate = DataRate::KilobitsPerSecond(4'000),
                                        .at_time = kStart};

TEST(UnlimitedControllersTest, TheTargetIsTheUpperBoundAndFollowsIt) {
  UnlimitedReceiverController receiver;
  UnlimitedSenderController sender;
  TargetRateConstraints constraints = kBounds;
  for (const int64_t kbps : {4'000, 1'000}) {
    constraints.max_rate = DataRate::KilobitsPerSecond(kbps);
    receiver.OnTargetRateConstraints(constraints);
    sender.OnTargetRateConstraints(constraints);
    EXPECT_EQ(receiver.OnTimeout(receiver.next_timeout()).target_rate, constraints.max_rate);
    EXPECT_EQ(sender.next_timeout(), constraints.at_time);
    const SenderControlUpdate update = sender.OnTimeout(constraints.at_time);
    EXPECT_EQ(update.target_rate->target_rate, constraints.max_rate);
    EXPECT_EQ(update.pacer_config->pacing_rate, constraints.max_rate);
    EXPECT_TRUE(sender.next_timeout().IsPlusInfinity());
    constraints.at_time += TimeDelta::Seconds(1);
  }
}

// Only the guard bounds the target: packets whose delay grows by 20 ms each show a queue of a second.
TEST(UnlimitedControllersTest, TheGuardBoundsAnUnlimitedController) {
  const auto target_after_a_queue = [](bool guard) {
    BandwidthEstimator estimator =
        MadeEstimator({.constraints = kBounds, .guard = guard}, std::make_unique<UnlimitedReceiverController>());
    TestStream stream;
    for (int i = 0; i < 300; ++i) {
      const Timestamp now = kStart + TimeDelta::Millis(10 * i);
      const TimeDelta delay = TimeDelta::Millis(20) * std::max(0, i - 250);
      estimator.OnPacket(stream.Next(now - delay, delay));
      if (estimator.next_timeout() <= now) static_cast<void>(estimator.OnTimeout(now));
    }
    return estimator.latest().target_rate;
  };
  EXPECT_EQ(target_after_a_queue(false), kBounds.max_rate);
  EXPECT_LT(target_after_a_queue(true), kBounds.max_rate * 0.9);
}

}  // namespace
}  // namespace weir
