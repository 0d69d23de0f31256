#include "arrival/queue_sharing.h"

#include <gtest/gtest.h>

#include <random>

namespace weir {
namespace {

using Result = QueueSharing::Result;

constexpr DataSize kSize = DataSize::Bytes(1200);
// At 2 Mbps.
constexpr TimeDelta kTransmission = TimeDelta::Micros(4800);

// `seconds` of 20 pairs each, between whose packets is one of another flow with a probability of `others`. Gaps have a
// uniform error of up to `jitter`.
QueueSharing Seconds(int seconds, double others, TimeDelta jitter = TimeDelta::Zero(), double delay_noise_s = 0) {
  QueueSharing test;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (int second = 0; second < seconds; ++second) {
    for (int i = 0; i < 20; ++i) {
      const int transmissions = share(random) < others ? 2 : 1;
      test.OnPair(kTransmission * transmissions + jitter * (2 * share(random) - 1), kSize);
    }
    test.EndSecond(delay_noise_s);
  }
  return test;
}

TEST(QueueSharingTest, PairsOfOneRateAreOfAFlowAlone) {
  EXPECT_EQ(Seconds(10, 0).result(), Result::kAlone);
  EXPECT_EQ(Seconds(10, 0, TimeDelta::Micros(250)).result(), Result::kAlone) << "times of transport feedback";
  EXPECT_EQ(Seconds(10, 0.03).result(), Result::kAlone) << "next to nothing is that of another flow";
}

TEST(QueueSharingTest, PairsApartByPacketsOfOthersShowThatTheyShareTheQueue) {
  EXPECT_EQ(Seconds(10, 0.3).result(), Result::kShared);
  EXPECT_EQ(Seconds(10, 0.5).result(), Result::kShared);
}

TEST(QueueSharingTest, WhereMostPairsAreApartTheFewFasterOnesShowIt) {
  EXPECT_EQ(Seconds(10, 0.85).result(), Result::kShared);
}

TEST(QueueSharingTest, IsUnknownWithFewPairsOrWithANoiseOfTheGapsSize) {
  EXPECT_EQ(QueueSharing().result(), Result::kUnknown);
  EXPECT_EQ(Seconds(1, 0.5).result(), Result::kUnknown);
  EXPECT_EQ(Seconds(10, 0, TimeDelta::Millis(4), 0.01).result(), Result::kUnknown);
}

TEST(QueueSharingTest, ForgetsPairsAfterTenSeconds) {
  QueueSharing test = Seconds(10, 0.5);
  for (int second = 0; second < 8; ++second) test.EndSecond(0);
  EXPECT_EQ(test.result(), Result::kShared);
  for (int second = 0; second < 2; ++second) test.EndSecond(0);
  EXPECT_EQ(test.result(), Result::kUnknown);
}

TEST(QueueSharingTest, EqualTimesOfABurstAreNotAnInfiniteRate) {
  QueueSharing test;
  for (int i = 0; i < 400; ++i) test.OnPair(TimeDelta::Millis(i % 4 == 0 ? 6 : 0), kSize);
  test.EndSecond(0);
  EXPECT_EQ(test.result(), Result::kAlone);
}

// A packet each 1.1 ms at 8.7 Mbps, in steps of 0.25 ms.
TEST(QueueSharingTest, StepsOfTransportFeedbackAreNotThePacketsOfOthers) {
  QueueSharing test;
  for (int i = 1; i <= 400; ++i) {
    const auto steps = [](int packet) { return TimeDelta::Micros(250) * (1100 * packet / 250); };
    test.OnPair(steps(i) - steps(i - 1), kSize);
  }
  test.EndSecond(0);
  EXPECT_EQ(test.result(), Result::kAlone);
}

// 34 packets in 39 ms, then none for 46 ms.
TEST(QueueSharingTest, AStopBetweenTheSlotsOfALinkIsNotThePacketsOfOthers) {
  QueueSharing test;
  for (int i = 0; i < 400; ++i) test.OnPair(i % 34 == 0 ? TimeDelta::Millis(46) : TimeDelta::Micros(1150), kSize);
  test.EndSecond(0);
  EXPECT_EQ(test.result(), Result::kAlone);
}

}  // namespace
}  // namespace weir
