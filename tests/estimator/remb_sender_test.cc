#include "weir/remb_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "arrival/arrival_history.h"

namespace weir {
namespace {

std::vector<uint8_t> Written(DataRate rate, const std::vector<uint32_t>& ssrcs) {
  Remb remb{.sender_ssrc = 0x01020304, .rate = rate, .ssrc_count = ssrcs.size()};
  std::copy_n(ssrcs.begin(), std::min(ssrcs.size(), kMaxRembSsrcs), remb.ssrcs.begin());
  std::vector<uint8_t> out(RembSize(ssrcs.size()));
  out.resize(WriteRemb(remb, out));
  return out;
}

TEST(RembTest, WritesWhatTheDraftSays) {
  // 1,000,000 = 250,000 * 2^2; 250,000 = 0x3D090.
  EXPECT_EQ(
      Written(DataRate::KilobitsPerSecond(1000), {0xAABBCCDD}),
      (std::vector<uint8_t>{0x8F,           206,  0,    5,    1,    2,    3,   4, 0, 0, 0, 0, 'R', 'E', 'M', 'B', 1,
                            (2 << 2) | 0x3, 0xD0, 0x90, 0xAA, 0xBB, 0xCC, 0xDD}));
}

TEST(RembTest, RoundTripsWithinTheMantissa) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto bps = static_cast<int64_t>(random() >> (1 + random() % 62));
    if (bps <= 0 || bps == std::numeric_limits<int64_t>::max()) continue;
    const std::vector<uint32_t> ssrcs(random() % 4, 7);
    const std::optional<Remb> remb = ParseRemb(Written(DataRate::BitsPerSecond(bps), ssrcs));
    ASSERT_TRUE(remb) << bps;
    EXPECT_LE(remb->rate.bps(), bps);
    EXPECT_GE(static_cast<double>(remb->rate.bps()), static_cast<double>(bps) * (1 - 1.0 / (1 << 17)));
    EXPECT_GT(remb->rate.bps(), 0);
    EXPECT_EQ(remb->sender_ssrc, 0x01020304u);
    EXPECT_EQ(remb->ssrc_count, ssrcs.size());
  }
}

TEST(RembTest, CarriesUpTo255Ssrcs) {
  std::vector<uint32_t> ssrcs;
  ssrcs.reserve(255);
  for (uint32_t i = 0; i < 255; ++i) ssrcs.push_back(i * 0x01010101u);
  const std::optional<Remb> remb = ParseRemb(Written(DataRate::KilobitsPerSecond(300), ssrcs));
  ASSERT_TRUE(remb);
  EXPECT_TRUE(std::equal(ssrcs.begin(), ssrcs.end(), remb->ssrcs.begin()));
  ssrcs.push_back(1);
  EXPECT_TRUE(Written(DataRate::KilobitsPerSecond(300), ssrcs).empty());
}

TEST(RembTest, NeverWritesWhatWouldMeanNoLimit) {
  for (const DataRate rate :
       {DataRate::Zero(), DataRate::BitsPerSecond(-1), DataRate::PlusInfinity(), DataRate::MinusInfinity()}) {
    EXPECT_TRUE(Written(rate, {1}).empty());
  }
}

TEST(RembTest, WritesNothingWhereThereIsNoRoom) {
  std::vector<uint8_t> out(RembSize(2) - 1, 0x55);
  EXPECT_EQ(WriteRemb({.rate = DataRate::KilobitsPerSecond(1), .ssrc_count = 2}, out), 0u);
  EXPECT_EQ(out, std::vector<uint8_t>(out.size(), 0x55));
}

TEST(RembTest, RefusesEveryTruncationAndExtension) {
  const std::vector<uint8_t> packet = Written(DataRate::KilobitsPerSecond(300), {1, 2, 3});
  for (size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(ParseRemb(std::span(packet).first(size))) << size;
  }
  std::vector<uint8_t> longer = packet;
  longer.resize(packet.size() + 4);
  EXPECT_FALSE(ParseRemb(longer));
}

TEST(RembTest, RefusesForeignPackets) {
  const std::vector<uint8_t> packet = Written(DataRate::KilobitsPerSecond(300), {1});
  const auto refused = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> changed = packet;
    changed[at] = value;
    return !ParseRemb(changed);
  };
  EXPECT_TRUE(refused(0, 0x4F));  // version 1
  EXPECT_TRUE(refused(0, 0x81));  // FMT 1, PLI
  EXPECT_TRUE(refused(1, 205));   // transport-layer feedback
  EXPECT_TRUE(refused(3, 6));     // length
  EXPECT_TRUE(refused(12, 'r'));
  EXPECT_TRUE(refused(16, 2));  // more SSRCs than there are
  EXPECT_TRUE(refused(16, 255));
}

TEST(RembTest, AcceptsPaddingAndRefusesWrongPadding) {
  std::vector<uint8_t> packet = Written(DataRate::KilobitsPerSecond(300), {1});
  packet[0] |= 0x20;
  packet[3] += 1;
  packet.insert(packet.end(), {0, 0, 0, 4});
  EXPECT_TRUE(ParseRemb(packet));
  for (const uint8_t padding : {0, 3, 8, 255}) {
    packet.back() = padding;
    EXPECT_FALSE(ParseRemb(packet)) << int{padding};
  }
}

TEST(RembTest, RefusesRatesThatOverflow) {
  std::vector<uint8_t> packet = Written(DataRate::KilobitsPerSecond(300), {});
  const auto set = [&](uint32_t exponent, uint32_t mantissa) {
    packet[17] = static_cast<uint8_t>(exponent << 2 | mantissa >> 16);
    packet[18] = static_cast<uint8_t>(mantissa >> 8);
    packet[19] = static_cast<uint8_t>(mantissa);
  };
  set(45, 0x3FFFF);
  EXPECT_EQ(ParseRemb(packet)->rate.bps(), int64_t{0x3FFFF} << 45);
  set(46, 0x3FFFF);
  EXPECT_FALSE(ParseRemb(packet));
  set(63, 1);
  EXPECT_FALSE(ParseRemb(packet));
  set(62, 1);
  EXPECT_EQ(ParseRemb(packet)->rate.bps(), int64_t{1} << 62);
  set(63, 0);
  EXPECT_TRUE(ParseRemb(packet)->rate.IsZero());
}

constexpr DataRate kRate = DataRate::KilobitsPerSecond(1000);
constexpr Timestamp kNow = Timestamp::Seconds(10);

}  // namespace

class RembRulesTest : public testing::Test {
 protected:
  struct Sender {
    void OnPacket(Timestamp time, DataSize size) {
      arrivals.OnArrival({.packet = {.arrival_time = time, .payload_size = static_cast<uint32_t>(size.bytes())}});
    }
    void OnSent(DataRate target, Timestamp now) { sender.OnSent(target, arrivals.totals(), now); }
    Timestamp DueTime(DataRate target, Timestamp now) const {
      const bool few_packets = arrivals.fourth_latest_arrival() < now - TimeDelta::Seconds(1);
      return sender.DueTime(target, arrivals.totals(), few_packets, now);
    }

    ArrivalHistory arrivals;
    RembSender sender;
  };

  // Ten packets a second until then.
  static Sender SentAt(Timestamp now, TimeDelta packet_spacing = TimeDelta::Millis(100)) {
    Sender sender;
    for (int i = 20; i >= 0; --i) sender.OnPacket(now - packet_spacing * i, DataSize::Bytes(1200));
    sender.OnSent(kRate, now);
    return sender;
  }
};

TEST_F(RembRulesTest, DecreaseOfThreePercentIsDueAtOnce) {
  const Sender sender = SentAt(kNow);
  EXPECT_TRUE(sender.DueTime(kRate * 0.97, kNow).IsMinusInfinity());
  EXPECT_EQ(sender.DueTime(kRate * 0.98, kNow), kNow + TimeDelta::Millis(200));
}

TEST_F(RembRulesTest, IncreaseWaits) {
  const Sender sender = SentAt(kNow);
  EXPECT_EQ(sender.DueTime(kRate * 1.01, kNow), kNow + TimeDelta::Millis(200));
  EXPECT_EQ(sender.DueTime(kRate * 5.0, kNow), kNow + TimeDelta::Millis(200));
}

TEST_F(RembRulesTest, RepeatsSoonWhileItLooksUnheardWithinFivePercentOfWhatArrives) {
  const auto due_after = [](DataRate target, int64_t received_bytes) {
    Sender sender;
    sender.OnPacket(kNow, DataSize::Bytes(1200));
    sender.OnSent(target, kNow);
    const Timestamp later = kNow + TimeDelta::Millis(200);
    sender.OnPacket(later, DataSize::Bytes(received_bytes));
    return sender.DueTime(target, later) - kNow;
  };
  // 25,000 bytes in 200 ms are 1 Mbps.
  EXPECT_EQ(due_after(kRate, 31'000), TimeDelta::Seconds(1));
  EXPECT_EQ(due_after(kRate, 32'000), TimeDelta::Millis(200));
  // A REMB is 5 % of 1,600 bytes.
  EXPECT_EQ(due_after(DataRate::KilobitsPerSecond(30), 1'599), TimeDelta::Seconds(1));
  EXPECT_EQ(due_after(DataRate::KilobitsPerSecond(30), 1'600), TimeDelta::Millis(200));
}

TEST_F(RembRulesTest, WhilePacketsAreSparseSmallChangesWait) {
  // Three and a half a second.
  const Sender sender = SentAt(kNow, TimeDelta::Millis(350));
  for (const double change : {0.86, 0.97, 0.99, 1.01, 1.14}) {
    EXPECT_EQ(sender.DueTime(kRate * change, kNow), kNow + TimeDelta::Millis(500)) << change;
  }
  EXPECT_TRUE(sender.DueTime(kRate * 0.85, kNow).IsMinusInfinity());
  EXPECT_EQ(sender.DueTime(kRate * 1.15, kNow), kNow + TimeDelta::Millis(200));
}

TEST_F(RembRulesTest, ASilenceIsSparse) {
  const Sender sender = SentAt(kNow);
  const auto due = [&](int64_t silence_ms) {
    return sender.DueTime(kRate * 0.9, kNow + TimeDelta::Millis(silence_ms));
  };
  EXPECT_TRUE(due(700).IsMinusInfinity());
  EXPECT_EQ(due(701), kNow + TimeDelta::Millis(500));
}

TEST_F(RembRulesTest, ARembThatWasHeldBackIsDueWhenItCanBeSentAndALowerOneAtOnce) {
  Sender sender = SentAt(kNow);
  const Timestamp until = kNow + TimeDelta::Millis(120);
  sender.sender.OnHeldBack(until);
  for (const double change : {0.98, 1.0, 1.01, 5.0}) EXPECT_EQ(sender.DueTime(kRate * change, kNow), until) << change;
  EXPECT_TRUE(sender.DueTime(kRate * 0.97, kNow).IsMinusInfinity());
  // Sent at last.
  sender.OnSent(kRate, until);
  EXPECT_EQ(sender.DueTime(kRate, until), until + TimeDelta::Seconds(1));
}

}  // namespace weir
