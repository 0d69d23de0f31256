#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "policy/feature_history.h"

namespace weir {
namespace {

FeatureHistory TwoFieldsThreeIntervals() {
  return FeatureHistory(
      {{*FindIntervalStatisticsField("receive_rate_bps"), *FindIntervalStatisticsField("loss_ratio")}, 3});
}

IntervalStatistics Record(double rate, double loss) {
  IntervalStatistics statistics;
  statistics.receive_rate_bps = rate;
  statistics.loss_ratio = loss;
  return statistics;
}

std::vector<float> Observation(const FeatureHistory& history) {
  return {history.observation().begin(), history.observation().end()};
}

TEST(FeaturesTest, IsZeroBeforeTheFirstRecord) {
  EXPECT_EQ(Observation(TwoFieldsThreeIntervals()), std::vector<float>(6, 0.0f));
}

TEST(FeaturesTest, RepeatsTheOldestRecordWhileHistoryIsShort) {
  FeatureHistory history = TwoFieldsThreeIntervals();
  history.Add(Record(100, 0.5));
  EXPECT_EQ(Observation(history), (std::vector<float>{100, 0.5f, 100, 0.5f, 100, 0.5f}));
  history.Add(Record(200, 0));
  EXPECT_EQ(Observation(history), (std::vector<float>{200, 0, 100, 0.5f, 100, 0.5f}));
}

TEST(FeaturesTest, PutsTheNewestFirstAndForgetsTheOldest) {
  FeatureHistory history = TwoFieldsThreeIntervals();
  for (int i = 1; i <= 5; ++i) history.Add(Record(i * 100, i));
  EXPECT_EQ(Observation(history), (std::vector<float>{500, 5, 400, 4, 300, 3}));
  history.Clear();
  EXPECT_EQ(Observation(history), std::vector<float>(6, 0.0f));
}

TEST(FeaturesTest, OfThePathOnlyTheNewestFollowsTheHistory) {
  const FeatureSpecification specification{
      {*FindIntervalStatisticsField("receive_rate_bps"), *FindIntervalStatisticsField("delay_noise_s"),
       *FindIntervalStatisticsField("loss_ratio")},
      2};
  ASSERT_EQ(specification.size(), 5u);
  EXPECT_EQ(specification.at(2).name, "receive_rate_bps");
  EXPECT_EQ(specification.at(3).name, "loss_ratio");
  EXPECT_EQ(specification.at(4).name, "delay_noise_s");
  FeatureHistory history(specification);
  IntervalStatistics statistics = Record(100, 0.5);
  statistics.delay_noise_s = 2;
  history.Add(statistics);
  statistics = Record(200, 0);
  statistics.delay_noise_s = 4;
  history.Add(statistics);
  EXPECT_EQ(Observation(history), (std::vector<float>{200, 0, 100, 0.5f, 4}));
  history.Clear();
  EXPECT_EQ(Observation(history), std::vector<float>(5, 0.0f));
}

TEST(FeaturesTest, FieldNamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_EQ(FindIntervalStatisticsField(field.name)->member, field.member);
  }
  EXPECT_FALSE(FindIntervalStatisticsField("receive_rate"));
}

}  // namespace
}  // namespace weir
