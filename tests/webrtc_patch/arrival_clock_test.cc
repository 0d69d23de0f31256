// Clocks that are set while a call runs, and hosts that are busy.
#include "arrival_clock.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir::adapter {
namespace {

constexpr TimeDelta kSpacing = TimeDelta::Millis(20);

// Packets that arrive every 20 ms by the host's clock and are stamped by another.
class ArrivalClockTest : public ::testing::Test {
 protected:
  // One packet, handed over `busy` after it arrived. By how much the result is before its arrival by the host's clock.
  TimeDelta Early(TimeDelta busy = TimeDelta::Zero(), TimeDelta spacing = kSpacing) {
    arrived_ += spacing;
    return arrived_ - clock_.ToMonotonic(arrived_ + base_, arrived_ + busy);
  }
  void Settle(int packets = 100) {
    for (int i = 0; i < packets; ++i) Early();
  }

  Timestamp arrived_ = Timestamp::Seconds(1000);
  TimeDelta base_ = TimeDelta::Seconds(1'700'000'000);
  ArrivalClock clock_;
};

TEST_F(ArrivalClockTest, ABaseThatIsSetMakesNoDifference) {
  Settle();
  for (const int64_t step_ms : {-900, -30, -3'600'000, -250, 900, -900, 3'600'000, 100, -600, -600, -999, -1001}) {
    base_ += TimeDelta::Millis(step_ms);
    for (int i = 0; i < 100; ++i) {
      const TimeDelta early = Early();
      // Within what may be reordering, it is as if the path had become quicker: a shorter delay is no queue.
      ASSERT_GE(early, TimeDelta::Zero()) << step_ms;
      ASSERT_LE(early, TimeDelta::Millis(step_ms == -30 ? 30 : 0)) << step_ms;
    }
  }
}

TEST_F(ArrivalClockTest, ABaseThatIsSetInASilenceMakesNoDifference) {
  Settle();
  for (const int64_t step_ms : {-900, -400, 400}) {
    base_ += TimeDelta::Millis(step_ms);
    EXPECT_EQ(Early(TimeDelta::Zero(), TimeDelta::Seconds(2)), TimeDelta::Zero()) << step_ms;
    Settle();
  }
}

// The network thread was held up, and hands over what came in the meantime at once.
TEST_F(ArrivalClockTest, ABusyHostIsNoQueue) {
  Settle();
  for (int i = 10; i >= 0; --i) EXPECT_EQ(Early(kSpacing * i), TimeDelta::Zero()) << i;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Early(TimeDelta::Millis(i % 20)), TimeDelta::Zero()) << i;
}

TEST_F(ArrivalClockTest, AHostThatStallsForASecondIsNoQueue) {
  Settle();
  for (int i = 49; i >= 0; --i) ASSERT_EQ(Early(kSpacing * i), TimeDelta::Zero()) << i;
}

TEST_F(ArrivalClockTest, ALongerStallIsForgottenWithItsLastPacket) {
  Settle();
  for (int i = 100; i >= 0; --i) ASSERT_LE(Early(kSpacing * i), TimeDelta::Zero()) << i;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Early(), TimeDelta::Zero()) << i;
}

TEST_F(ArrivalClockTest, TwoSocketsAreHandedOverOneAfterTheOther) {
  Settle();
  const Timestamp before = arrived_;
  Settle(2);
  for (int i = 0; i < 2; ++i) {
    const Timestamp arrival = before + TimeDelta::Millis(25 + 10 * i);
    EXPECT_EQ(clock_.ToMonotonic(arrival + base_, arrived_), arrival);
  }
}

// A quarter of an hour of 300 ppm either way: 270 ms by the end.
TEST_F(ArrivalClockTest, DriftIsFollowedWithoutALeap) {
  for (const int64_t drift_us : {-6, 6}) {
    Settle();
    TimeDelta before = Early();
    for (int i = 0; i < 45'000; ++i) {
      base_ += TimeDelta::Micros(drift_us);
      const TimeDelta early = Early();
      ASSERT_LE((early - before).Abs(), TimeDelta::Millis(5)) << i;
      ASSERT_LE(early.Abs(), TimeDelta::Millis(10)) << i;
      before = early;
    }
  }
}

}  // namespace
}  // namespace weir::adapter
