#include "weir/arrival/sliding_median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace weir {
namespace {

TEST(SlidingMedianTest, IsThatOfTheSortedLastValues) {
  SlidingMedian<30> median;
  EXPECT_EQ(median.median(), 0);
  std::deque<double> last;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    // In part of few different values, so that many are equal.
    const double value = i % 200 < 100 ? static_cast<double>(random() % 5) : static_cast<double>(random()) * 1e-9;
    median.Add(value);
    last.push_back(value);
    if (last.size() > 30) last.pop_front();
    std::vector<double> sorted(last.begin(), last.end());
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(median.median(), sorted[sorted.size() / 2]) << i;
  }
}

}  // namespace
}  // namespace weir
