#include "arrival/losses_after_delay.h"

#include <gtest/gtest.h>

#include <random>

namespace weir {
namespace {

// Ten seconds of packets whose delays are spread over a queue of four packets at 10 Mbps. A packet behind one that
// waited for `full` or longer is dropped, any other with a probability of 8 %. All delays are `before` longer.
LossesAfterDelay TenSeconds(TimeDelta full, uint32_t seed, TimeDelta before = TimeDelta::Zero()) {
  LossesAfterDelay test;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 500; ++i) {
      const TimeDelta delay = TimeDelta::SecondsF(0.0048 * share(random));
      test.OnDelay(before + delay);
      if (delay >= full || share(random) < 0.08) test.OnLoss(before + delay);
    }
    test.EndSecond();
  }
  return test;
}

constexpr TimeDelta kFull = TimeDelta::Micros(4704);

double ScoreOf(TimeDelta full, uint32_t seed) { return TenSeconds(full, seed).Score(); }

TEST(LossesAfterDelayTest, RandomLossScoresLikeChance) {
  double sum = 0, squares = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const double score = ScoreOf(TimeDelta::PlusInfinity(), seed);
    sum += score;
    squares += score * score;
  }
  EXPECT_NEAR(sum / 200, 0, 0.25);
  EXPECT_NEAR(squares / 200, 1, 0.35);
}

TEST(LossesAfterDelayTest, AQueueOfFourPacketsThatDropsTwoInAHundredIsSeen) {
  for (uint32_t seed = 0; seed < 20; ++seed) EXPECT_GT(ScoreOf(kFull, seed), 2.5) << seed;
}

TEST(LossesAfterDelayTest, AQueueIsShortIfItsLossesFollowDelaysOfAtMostSixtyMilliseconds) {
  EXPECT_TRUE(TenSeconds(kFull, 1).ShowShortQueue());
  EXPECT_TRUE(TenSeconds(kFull, 1, TimeDelta::Millis(50)).ShowShortQueue());
  EXPECT_FALSE(TenSeconds(kFull, 1, TimeDelta::Millis(60)).ShowShortQueue());
  EXPECT_FALSE(TenSeconds(TimeDelta::PlusInfinity(), 1).ShowShortQueue()) << "random loss";
  EXPECT_FALSE(LossesAfterDelay().ShowShortQueue());
}

TEST(LossesAfterDelayTest, TheMeanDelayBeforeALossGrowsWithTheQueue) {
  const TimeDelta added = TimeDelta::Millis(50);
  const TimeDelta mean = TenSeconds(kFull, 1).MeanDelayBeforeLoss();
  EXPECT_GT(mean, TimeDelta::Zero());
  EXPECT_LE(mean, kFull);
  EXPECT_NEAR((TenSeconds(kFull, 1, added).MeanDelayBeforeLoss() - mean).ms(), added.ms(), 1);
  EXPECT_EQ(LossesAfterDelay().MeanDelayBeforeLoss(), TimeDelta::Zero());
}

TEST(LossesAfterDelayTest, LossesWithoutDelaysScoreZero) {
  LossesAfterDelay test;
  EXPECT_EQ(test.Score(), 0);
  test.EndSecond();
  test.OnDelay(TimeDelta::Zero());
  test.OnLoss(TimeDelta::Zero());
  test.EndSecond();
  EXPECT_EQ(test.Score(), 0);
}

TEST(LossesAfterDelayTest, OneSlowSecondWithUsualLossScoresLikeChance) {
  LossesAfterDelay test;
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 500; ++i) {
      const TimeDelta delay = TimeDelta::Millis((second == 5 ? 100 : 0) + i % 7);
      test.OnDelay(delay);
      if (i % 10 == 0) test.OnLoss(delay);
    }
    test.EndSecond();
  }
  EXPECT_LT(test.Score(), 1);
}

TEST(LossesAfterDelayTest, TenSecondsLaterTheQueueIsForgotten) {
  LossesAfterDelay test;
  for (int i = 0; i < 500; ++i) {
    test.OnDelay(TimeDelta::Millis(i % 5));
    if (i % 5 == 4) test.OnLoss(TimeDelta::Millis(4));
  }
  test.EndSecond();
  EXPECT_GT(test.Score(), 10);
  for (int second = 0; second < 10; ++second) test.EndSecond();
  EXPECT_EQ(test.Score(), 0);
}

}  // namespace
}  // namespace weir
