// The guard on links whose capacity falls for a moment, behind a controller that backs off from any delay.
#include <gtest/gtest.h>

#include <algorithm>

#include "dipping_link.h"
#include "guard/guard.h"
#include "test_stream.h"

namespace weir {
namespace {

constexpr TimeDelta Ms(int64_t ms) { return TimeDelta::Millis(ms); }
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

constexpr DataRate kRate = Kbps(10'000);
constexpr DataRate kFast = Kbps(60'000);
constexpr DataRate kLow = Kbps(300);
constexpr TimeDelta kPeriod = Ms(5000);
constexpr TimeDelta kLength = Ms(700);

// kFast, but kLow in the last 700 ms of each 5 s, and from `falls` on.
DippingLink::Capacity Dips(TimeDelta falls = TimeDelta::Seconds(1000)) {
  return [falls](TimeDelta time) {
    const bool dips = time.us() % kPeriod.us() >= (kPeriod - kLength).us();
    return dips || time >= falls ? kLow : kFast;
  };
}

class DipTest : public testing::TestWithParam<bool> {
 protected:
  explicit DipTest(DippingLink link = DippingLink(Dips())) : link_(std::move(link)), guard_(arrivals_, {}, GetParam()) {
    arrivals_.Start(Now());
    guard_.SetConstraints({.start_rate = kRate, .max_rate = kRate}, Now());
  }

  Timestamp Now() const { return Timestamp::Seconds(7) + link_.now(); }

  // Sends at the rate in force, with a decision each 50 ms, until `end`. Returns the lowest rate in force after `from`.
  DataRate LowestRate(TimeDelta from, TimeDelta end) {
    DataRate lowest = DataRate::PlusInfinity();
    while (link_.now() < end) {
      for (const DippingLink::Packet& packet : link_.Pass(rate_)) {
        arrivals_.OnArrival(
            ArrivalOf(Now(), static_cast<uint32_t>(packet.size.bytes()), packet.delay, packet.lost_before));
        if (packet.delay > Ms(10)) backs_off_until_ = link_.now() + TimeDelta::Seconds(1);
      }
      if (link_.now().us() % 50'000 != 0) continue;
      arrivals_.OnDecision(Now());
      rate_ = guard_.Apply(link_.now() < backs_off_until_ ? Kbps(150) : kRate, Now()).rate;
      if (link_.now() > from) lowest = std::min(lowest, rate_);
    }
    return lowest;
  }

  DippingLink link_;
  ArrivalHistory arrivals_;
  Guard guard_;
  DataRate rate_ = kRate;
  TimeDelta backs_off_until_ = TimeDelta::Zero();
};

TEST_P(DipTest, AfterTheFirstDipTheRateBeforeItIsInForceAtOnce) {
  EXPECT_LT(LowestRate(kPeriod - kLength, kPeriod), Kbps(1000)) << "a drop of the capacity looks the same";
  LowestRate(kPeriod, kPeriod + Ms(150));
  EXPECT_EQ(rate_, kRate);
  EXPECT_GT(LowestRate(kPeriod + Ms(150), kPeriod * 2 - kLength), kRate * 0.7);
}

TEST_P(DipTest, FurtherDipsDoNotLowerTheRate) {
  LowestRate(kPeriod, kPeriod * 2 - kLength);
  EXPECT_GT(LowestRate(kPeriod * 2 - kLength + Ms(50), kPeriod * 2 + Ms(600)), kRate * 0.7);
  EXPECT_GT(LowestRate(kPeriod * 2, kPeriod * 3 - kLength), kRate * 0.7);
}

class DropAfterDipsTest : public DipTest {
 protected:
  DropAfterDipsTest() : DipTest(DippingLink(Dips(kPeriod * 3 - kLength))) {}
};

TEST_P(DropAfterDipsTest, ADropThatIsLongerThanTheDipsEndsTheirRate) {
  LowestRate(kPeriod, kPeriod * 3);
  EXPECT_GT(rate_, kRate * 0.7);
  LowestRate(kPeriod * 3, kPeriod * 3 + Ms(250));
  EXPECT_LE(rate_, kLow);
}

class SlowRecoveryTest : public DipTest {
 protected:
  SlowRecoveryTest()
      : DipTest(DippingLink([](TimeDelta time) {
          // A fade: the capacity returns over three seconds.
          const TimeDelta since = time - (kPeriod - kLength);
          if (since < TimeDelta::Zero()) return kFast;
          return since < kLength ? kLow : std::min(kFast, kRate * ((since - kLength) / TimeDelta::Seconds(3)));
        })) {}
};

TEST_P(SlowRecoveryTest, AFadeResumesNoRate) {
  LowestRate(kPeriod, kPeriod + Ms(200));
  EXPECT_LT(rate_, Kbps(2000));
}

class ShortQueueTest : public DipTest {
 protected:
  ShortQueueTest() : DipTest(DippingLink(Dips(), DataSize::Bytes(200'000))) {}
};

TEST_P(ShortQueueTest, DipsInWhichTheQueueOverflowsAreNotExpectedAgainForAMinute) {
  // The first dip has no losses, since the controller backs off. The second is expected, and overflows the queue.
  LowestRate(kPeriod, kPeriod * 2 - kLength);
  LowestRate(kPeriod * 2 - kLength, kPeriod * 2 + Ms(2000));
  EXPECT_LT(LowestRate(kPeriod * 3 - kLength, kPeriod * 3), Kbps(1000));
  LowestRate(kPeriod * 3, kPeriod * 3 + Ms(150));
  EXPECT_GT(rate_, kRate * 0.7) << "the rate resumes after each of them";
}

// At the receiver, and at the sender.
INSTANTIATE_TEST_SUITE_P(, DipTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(, DropAfterDipsTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(, SlowRecoveryTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(, ShortQueueTest, testing::Bool());

}  // namespace
}  // namespace weir
