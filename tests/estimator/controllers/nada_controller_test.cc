#include "controllers/nada_controller.h"

#include <gtest/gtest.h>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(3);
constexpr TimeDelta kDelta = TimeDelta::Millis(100);
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

class NadaControllerTest : public testing::Test {
 protected:
  NadaControllerTest() {
    nada_.OnTargetRateConstraints({.at_time = now_});
    nada_.OnRoundTripTimeUpdate({now_, TimeDelta::Millis(50)});
  }

  // One DELTA in which 20 packets arrive at `rate`, the first after a gap of `lost`.
  double Interval(DataRate rate, TimeDelta delay, int32_t lost = 0) {
    for (int i = 0; i < 20; ++i) {
      const auto bytes = static_cast<uint32_t>((rate * TimeDelta::Millis(5)).bytes());
      nada_.OnArrival(ArrivalOf(now_ + TimeDelta::Millis(5) * i, bytes, delay, i == 0 ? lost : 0));
    }
    now_ += kDelta;
    const ReceiverControlUpdate update = nada_.OnTimeout(now_);
    EXPECT_TRUE(update.target_rate);
    return static_cast<double>(update.target_rate->bps());
  }

  Timestamp now_ = kStart;
  NadaController nada_;
};

TEST_F(NadaControllerTest, RampsUpByGammaOnAnIdlePath) {
  // gamma = min(0.5, 50 / (50 + 100 + 120))
  EXPECT_NEAR(Interval(Kbps(1000), TimeDelta::Zero()), 1e6 * (1 + 50.0 / 270), 1e3);
  // Never below the present rate.
  EXPECT_NEAR(Interval(Kbps(100), TimeDelta::Zero()), 1e6 * (1 + 50.0 / 270), 1e3);
}

TEST_F(NadaControllerTest, GradualUpdateFollowsEquations5To7) {
  nada_.OnTargetApplied({now_, Kbps(1500)});
  double rate = 1.5e6;
  double previous = 0;
  for (const double delay_ms : {20.0, 30.0, 30.0, 12.0}) {
    const double next = Interval(Kbps(1500), TimeDelta::Micros(static_cast<int64_t>(delay_ms * 1000)));
    const double offset = delay_ms - 10 * 1.5e6 / rate;
    rate -= 0.5 * (100.0 / 500) * (offset / 500) * rate + 0.5 * 2 * ((delay_ms - previous) / 500) * rate;
    previous = delay_ms;
    EXPECT_NEAR(next, rate, 10);
  }
}

TEST_F(NadaControllerTest, AnyDelayOf10MillisecondsWithinLogwinEndsTheRampUp) {
  nada_.OnTargetApplied({now_, Kbps(1000)});
  Interval(Kbps(1000), TimeDelta::Millis(11));
  for (int i = 0; i < 4; ++i) {
    const double next = Interval(Kbps(1000), TimeDelta::Millis(1));
    EXPECT_LT(next, 1.1e6) << i;
  }
  EXPECT_GT(Interval(Kbps(1000), TimeDelta::Millis(1)), 1.18e6);
}

TEST_F(NadaControllerTest, LossLowersTheRate) {
  nada_.OnTargetApplied({now_, Kbps(1000)});
  double rate = 1e6;
  for (int i = 0; i < 20; ++i) rate = Interval(Kbps(1000), TimeDelta::Millis(5), 4);
  EXPECT_LT(rate, 0.3e6);
}

TEST_F(NadaControllerTest, ALongQueueIsDiscountedWhileLossesAreRecent) {
  NadaController lossless = nada_;
  for (int i = 0; i < 3; ++i) Interval(Kbps(1000), TimeDelta::Millis(200), 1);
  std::swap(nada_, lossless);
  now_ = kStart;
  for (int i = 0; i < 3; ++i) Interval(Kbps(1000), TimeDelta::Millis(200));
  // The same long queue, one lost packet in each interval of the other: its signal is the warped delay.
  nada_.OnTargetApplied({now_, Kbps(1000)});
  lossless.OnTargetApplied({now_, Kbps(1000)});
  const double without_loss = Interval(Kbps(1000), TimeDelta::Millis(200));
  std::swap(nada_, lossless);
  now_ = now_ - kDelta;
  const double with_loss = Interval(Kbps(1000), TimeDelta::Millis(200));
  EXPECT_LT(without_loss, 0.97e6);
  EXPECT_GT(with_loss, without_loss);
}

TEST_F(NadaControllerTest, PriorityRaisesTheShare) {
  NadaController eager({.priority = 4});
  eager.OnTargetRateConstraints({.at_time = kStart});
  std::swap(nada_, eager);
  nada_.OnTargetApplied({now_, Kbps(1000)});
  const double with_priority = Interval(Kbps(1000), TimeDelta::Millis(20));
  std::swap(nada_, eager);
  now_ = kStart;
  nada_.OnTargetApplied({now_, Kbps(1000)});
  EXPECT_GT(with_priority, Interval(Kbps(1000), TimeDelta::Millis(20)));
}

}  // namespace
}  // namespace weir
