#include "arrival/capacity_dip.h"

#include <gtest/gtest.h>

#include <vector>

#include "dipping_link.h"

namespace weir {
namespace {

constexpr TimeDelta Ms(int64_t ms) { return TimeDelta::Millis(ms); }
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

constexpr DataRate kRate = Kbps(10'000);
constexpr DataRate kFast = Kbps(60'000);
constexpr TimeDelta kBegin = Ms(2000);

// The lengths of the dips that are found while a sender sends at `rate` for six seconds.
std::vector<TimeDelta> DipsOf(const DippingLink::Capacity& capacity, DataRate rate = kRate) {
  DippingLink link(capacity);
  CapacityDip dip;
  dip.SetRate(rate);
  DataSize total = DataSize::Zero();
  std::vector<TimeDelta> found;
  while (link.now() < Ms(6000)) {
    for (const DippingLink::Packet& packet : link.Pass(rate)) {
      const TimeDelta length =
          dip.OnArrival(Timestamp::Seconds(7) + packet.arrival, packet.delay, total += packet.size);
      if (!length.IsZero()) found.push_back(length);
    }
  }
  return found;
}

// A capacity of `low` for `length`, then `after`.
DippingLink::Capacity Falls(TimeDelta length, DataRate low, DataRate after = kFast) {
  return [=](TimeDelta time) { return time < kBegin ? kFast : time < kBegin + length ? low : after; };
}

TEST(CapacityDipTest, FindsADipAtAnyLowRateAfterWhichTheQueueDrainsAtOnce) {
  for (const int64_t low_kbps : {0, 300, 1000}) {
    for (const int64_t length_ms : {150, 700, 950}) {
      const std::vector<TimeDelta> dips = DipsOf(Falls(Ms(length_ms), Kbps(low_kbps)));
      ASSERT_EQ(dips.size(), 1u) << low_kbps << " kbps for " << length_ms << " ms";
      EXPECT_NEAR(dips[0].seconds() * 1e3, static_cast<double>(length_ms), 0.15 * static_cast<double>(length_ms));
    }
  }
}

TEST(CapacityDipTest, ALinkThatRemainsSlowerThanBeforeOrBarelyAsFastHasNone) {
  for (const int64_t after_kbps : {300, 5000, 9500, 15'000}) {
    EXPECT_TRUE(DipsOf(Falls(Ms(700), Kbps(300), Kbps(after_kbps))).empty()) << after_kbps;
  }
}

TEST(CapacityDipTest, AShallowFallOrALongOneIsNone) {
  EXPECT_TRUE(DipsOf(Falls(Ms(700), Kbps(4000))).empty());
  EXPECT_TRUE(DipsOf(Falls(Ms(1300), Kbps(300))).empty());
  EXPECT_TRUE(DipsOf(Falls(Ms(60), Kbps(300))).empty());
}

TEST(CapacityDipTest, DelayOfFewPacketsIsNone) { EXPECT_TRUE(DipsOf(Falls(Ms(200), Kbps(0)), Kbps(300)).empty()); }

TEST(CapacityDipTest, ALinkThatStopsForHalfOfTheTimeHasNone) {
  const auto stops = [](TimeDelta time) {
    return time >= kBegin && time.us() % 600'000 < 300'000 ? Kbps(0) : kRate * 2;
  };
  EXPECT_LE(DipsOf(stops, kRate * 0.9).size(), 1u) << "the first looks like one";
}

TEST(CapacityDipTest, LargeFramesThatTheLinkCarriesAtItsRateAreNone) {
  CapacityDip dip;
  dip.SetRate(Kbps(480));
  DataSize total = DataSize::Zero();
  for (int packet = 0; packet < 200; ++packet) {
    // Frames of 30 packets each 600 ms, on 1 Mbps.
    const TimeDelta delay = (packet % 30) * Ms(10);
    const Timestamp arrival = Timestamp::Seconds(7) + (packet / 30) * Ms(600) + delay;
    EXPECT_TRUE(dip.OnArrival(arrival, delay, total += DataSize::Bytes(1200)).IsZero());
  }
}

TEST(CapacityDipTest, HasATimeDuringGrowthAndDrainsAfterIt) {
  CapacityDip dip;
  dip.SetRate(kRate);
  const auto arrive = [&dip](int64_t time_ms, int64_t delay_ms, int64_t bytes) {
    return dip.OnArrival(Timestamp::Seconds(7) + Ms(time_ms), Ms(delay_ms), DataSize::Bytes(bytes));
  };
  arrive(0, 0, 1200);
  arrive(40, 40, 2400);
  EXPECT_TRUE(dip.Elapsed(Timestamp::Seconds(7) + Ms(40)).IsZero());
  arrive(200, 200, 3600);
  EXPECT_EQ(dip.Elapsed(Timestamp::Seconds(7) + Ms(210)), Ms(210));
  EXPECT_FALSE(dip.drains());
  arrive(215, 150, 30'000);
  EXPECT_TRUE(dip.Elapsed(Timestamp::Seconds(7) + Ms(215)).IsZero());
  EXPECT_TRUE(dip.drains());
  EXPECT_EQ(arrive(230, 10, 60'000), Ms(200));
  EXPECT_FALSE(dip.drains());
}

}  // namespace
}  // namespace weir
