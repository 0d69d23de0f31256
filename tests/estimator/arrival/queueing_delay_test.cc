#include "arrival/queueing_delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace weir {
namespace {

constexpr int64_t kTicksPerSecond = int64_t{1} << 18;
constexpr TimeDelta kInterval = TimeDelta::Millis(10);

// Packets over a path that takes 40 ms, from a sender whose clock is slow by `skew`.
class Call {
 public:
  explicit Call(double skew) : skew_(skew) {}

  // For so long, behind a queue of this. Returns the largest error of the queueing delay.
  TimeDelta Run(TimeDelta duration, TimeDelta queue) {
    TimeDelta largest = TimeDelta::Zero();
    for (const TimeDelta end = sent_ + duration; sent_ < end; sent_ += kInterval) {
      const double ticks = sent_.seconds() * (1 - skew_) * static_cast<double>(kTicksPerSecond);
      const SendTime sent{static_cast<uint32_t>(static_cast<int64_t>(ticks)) & 0xFFFFFF, 24, kTicksPerSecond};
      const Timestamp arrival = Timestamp::Seconds(3) + sent_ + TimeDelta::Millis(40) + queue;
      const QueueingDelay::Result measured =
          delay_.Update(arrival, clock_.Update(arrival, sent), DataSize::Bytes(1200));
      largest = std::max(largest, (measured.queueing_delay - queue).Abs());
      // Another skew is no step in what is measured.
      EXPECT_LE((measured.queueing_delay - last_).Abs(), largest_step_);
      last_ = measured.queueing_delay;
    }
    return largest;
  }
  void ExpectNoStepAbove(TimeDelta step) { largest_step_ = step; }

 private:
  double skew_;
  TimeDelta sent_ = TimeDelta::Zero();
  TimeDelta last_ = TimeDelta::Zero();
  TimeDelta largest_step_ = TimeDelta::PlusInfinity();
  SendClock clock_;
  QueueingDelay delay_;
};

class WrongClockTest : public testing::TestWithParam<double> {};

TEST_P(WrongClockTest, IsNoQueueAfterHalfAMinute) {
  Call call(GetParam());
  // Until the skew is known it looks like one, of no more than what the clocks have drifted apart.
  EXPECT_LE(call.Run(TimeDelta::Seconds(30), TimeDelta::Zero()), TimeDelta::Millis(26));
  call.ExpectNoStepAbove(TimeDelta::Millis(2));
  EXPECT_LE(call.Run(TimeDelta::Seconds(600), TimeDelta::Zero()), TimeDelta::Millis(2));
}

TEST_P(WrongClockTest, DoesNotHideAQueueThatStands) {
  Call call(GetParam());
  call.Run(TimeDelta::Seconds(30), TimeDelta::Zero());
  EXPECT_LE(call.Run(TimeDelta::Seconds(20), TimeDelta::Millis(50)), TimeDelta::Millis(3));
}

INSTANTIATE_TEST_SUITE_P(Skews, WrongClockTest, testing::Values(-1e-3, -3e-4, 0.0, 3e-4, 1e-3));

}  // namespace
}  // namespace weir
