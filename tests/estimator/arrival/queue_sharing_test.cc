#include "arrival/queue_sharing.h"

#include <gtest/gtest.h>

#include <random>

namespace weir {
namespace {

constexpr DataSize kSize = DataSize::Bytes(1200);
// At 2 Mbps.
constexpr TimeDelta kTransmission = TimeDelta::Micros(4800);
constexpr TimeDelta kDelay = TimeDelta::Millis(40);
constexpr DataRate kRate = DataRate::KilobitsPerSecond(1500);

struct Pairs {
  // Probability that a packet of another flow is between two of this one.
  double others = 0;
  // Gaps have a uniform error of up to this.
  TimeDelta jitter = TimeDelta::Zero();
  double delay_noise_s = 0;
  TimeDelta queueing_delay = kDelay;
  DataRate receive_rate = kRate;
};

// `seconds` of 20 pairs each.
QueueSharing Seconds(int seconds, const Pairs& pairs) {
  QueueSharing test;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (int second = 0; second < seconds; ++second) {
    for (int i = 0; i < 20; ++i) {
      const int transmissions = share(random) < pairs.others ? 2 : 1;
      test.OnPair(kTransmission * transmissions + pairs.jitter * (2 * share(random) - 1), kSize, pairs.queueing_delay);
    }
    test.EndSecond(pairs.delay_noise_s, pairs.receive_rate);
  }
  return test;
}

TEST(QueueSharingTest, PairsOfOneRateAreOfAFlowAlone) {
  EXPECT_FALSE(Seconds(10, {}).is_shared());
  EXPECT_FALSE(Seconds(10, {.jitter = TimeDelta::Micros(250)}).is_shared()) << "times of transport feedback";
  EXPECT_FALSE(Seconds(10, {.others = 0.03}).is_shared()) << "next to nothing is that of another flow";
}

TEST(QueueSharingTest, PairsApartByPacketsOfOthersShowThatTheyShareTheQueue) {
  EXPECT_TRUE(Seconds(10, {.others = 0.3}).is_shared());
  EXPECT_TRUE(Seconds(10, {.others = 0.5}).is_shared());
}

TEST(QueueSharingTest, WhereMostPairsAreApartTheFewFasterOnesShowIt) {
  EXPECT_TRUE(Seconds(10, {.others = 0.85}).is_shared());
}

TEST(QueueSharingTest, IsUnknownWithFewPairsOrWithANoiseOfTheGapsSize) {
  EXPECT_FALSE(QueueSharing().is_shared());
  EXPECT_FALSE(Seconds(1, {.others = 0.5}).is_shared());
  EXPECT_FALSE(Seconds(10, {.jitter = TimeDelta::Millis(4), .delay_noise_s = 0.01}).is_shared());
}

TEST(QueueSharingTest, ALongQueueShowsOthersItsDelay) {
  EXPECT_FALSE(Seconds(10, {.others = 0.5, .queueing_delay = TimeDelta::Millis(61)}).is_shared());
  QueueSharing test = Seconds(10, {.others = 0.5});
  test.OnPair(kTransmission, kSize, TimeDelta::Millis(61));
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 20; ++i) test.OnPair(kTransmission * (1 + i % 2), kSize, kDelay);
    test.EndSecond(0, kRate);
    EXPECT_FALSE(test.is_shared()) << second;
  }
  for (int i = 0; i < 20; ++i) test.OnPair(kTransmission * (1 + i % 2), kSize, kDelay);
  test.EndSecond(0, kRate);
  EXPECT_TRUE(test.is_shared());
}

// Without a queue, the gaps between packets are as long as their jitter, whatever the receive rate.
TEST(QueueSharingTest, JitterIsNotThePacketsOfOthers) {
  EXPECT_FALSE(Seconds(10, {.others = 0.5, .receive_rate = DataRate::KilobitsPerSecond(800)}).is_shared());
}

TEST(QueueSharingTest, ForgetsPairsAfterTenSeconds) {
  QueueSharing test = Seconds(10, {.others = 0.5});
  for (int second = 0; second < 8; ++second) test.EndSecond(0, kRate);
  EXPECT_TRUE(test.is_shared());
  for (int second = 0; second < 2; ++second) test.EndSecond(0, kRate);
  EXPECT_FALSE(test.is_shared());
}

TEST(QueueSharingTest, EqualTimesOfABurstAreNotAnInfiniteRate) {
  QueueSharing test;
  for (int i = 0; i < 400; ++i) test.OnPair(TimeDelta::Millis(i % 4 == 0 ? 6 : 0), kSize, kDelay);
  test.EndSecond(0, DataRate::KilobitsPerSecond(6400));
  EXPECT_FALSE(test.is_shared());
}

// A packet each 1.1 ms at 8.7 Mbps, in steps of 0.25 ms.
TEST(QueueSharingTest, StepsOfTransportFeedbackAreNotThePacketsOfOthers) {
  QueueSharing test;
  for (int i = 1; i <= 400; ++i) {
    const auto steps = [](int packet) { return TimeDelta::Micros(250) * (1100 * packet / 250); };
    test.OnPair(steps(i) - steps(i - 1), kSize, kDelay);
  }
  test.EndSecond(0, DataRate::KilobitsPerSecond(8700));
  EXPECT_FALSE(test.is_shared());
}

// 34 packets in 39 ms, then none for 46 ms.
TEST(QueueSharingTest, AStopBetweenTheSlotsOfALinkIsNotThePacketsOfOthers) {
  QueueSharing test;
  for (int i = 0; i < 400; ++i) {
    test.OnPair(i % 34 == 0 ? TimeDelta::Millis(46) : TimeDelta::Micros(1150), kSize, kDelay);
  }
  test.EndSecond(0, DataRate::KilobitsPerSecond(8000));
  EXPECT_FALSE(test.is_shared());
}

}  // namespace
}  // namespace weir
