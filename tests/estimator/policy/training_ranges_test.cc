#include "weir/policy/training_ranges.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

TEST(TrainingRangesTest, CountsFieldsOutsideTheirRange) {
  const std::vector<IntervalStatisticsField> fields{
      *FindIntervalStatisticsField("receive_rate_bps"), *FindIntervalStatisticsField("loss_ratio"),
      *FindIntervalStatisticsField("queueing_delay_mean_s"), *FindIntervalStatisticsField("delay_gradient")};
  const std::vector<FeatureRange> ranges{{1e5, 2e7}, {0, 0.5}, {0, 1}, {-2, 1}};
  IntervalStatistics statistics;
  statistics.receive_rate_bps = 1e5;
  statistics.delay_gradient = 1;
  EXPECT_EQ(ShareOutside(ranges, fields, statistics), 0);
  statistics.receive_rate_bps = 9e4;
  EXPECT_EQ(ShareOutside(ranges, fields, statistics), 0.25);
  statistics.delay_gradient = 1.1;
  statistics.loss_ratio = 0.6;
  EXPECT_EQ(ShareOutside(ranges, fields, statistics), 0.75);
}

TEST(TrainingRangesTest, WithoutRangesNothingIsKnown) {
  const std::vector<IntervalStatisticsField> fields{*FindIntervalStatisticsField("receive_rate_bps")};
  EXPECT_EQ(ShareOutside({}, fields, IntervalStatistics{}), 0);
}

}  // namespace
}  // namespace weir
