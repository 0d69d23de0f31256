#include "sender/return_path.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir {
namespace {

// Feedback on ten packets each, every 50 ms; each message for which `is_lost` holds does not arrive.
template <class IsLost>
double LossOf(IsLost is_lost) {
  ReturnPath path;
  for (int64_t i = 0; i < 200; ++i) {
    if (!is_lost(i)) path.OnFeedback(10 * i, 10 * i + 9, Timestamp::Millis(1000 + 50 * i));
  }
  return path.loss_ratio();
}

TEST(ReturnPathTest, IsTheShareOfPacketsThatNoFeedbackCovers) {
  EXPECT_EQ(LossOf([](int64_t) { return false; }), 0);
  EXPECT_NEAR(LossOf([](int64_t i) { return i % 5 == 2; }), 0.2, 0.02);
}

TEST(ReturnPathTest, OldLossesCountLess) {
  EXPECT_LT(LossOf([](int64_t i) { return i < 100 && i % 2 == 0; }), 0.2);
}

TEST(ReturnPathTest, FewPacketsAndRepeatedFeedbackAreNoLoss) {
  ReturnPath path;
  path.OnFeedback(0, 9, Timestamp::Millis(1));
  path.OnFeedback(50, 59, Timestamp::Millis(2));
  EXPECT_EQ(path.loss_ratio(), 0) << "few packets";
  ReturnPath repeated;
  for (int64_t i = 0; i < 100; ++i) {
    repeated.OnFeedback(10 * i, 10 * i + 9, Timestamp::Millis(1000 + 50 * i));
    repeated.OnFeedback(10 * i - 20, 10 * i + 9, Timestamp::Millis(1001 + 50 * i));
    repeated.OnFeedback(9, 0, Timestamp::Millis(1002 + 50 * i));
  }
  EXPECT_EQ(repeated.loss_ratio(), 0);
}

}  // namespace
}  // namespace weir
