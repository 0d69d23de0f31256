// Forward error correction: how much of it, its packets, and what they repair.
#include "repair/fec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/event.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(2000);
constexpr Ns kRoundTrip = 60 * kMs;

FecParameters ParametersAfter(double loss_ratio, DataRate rate = kRate, SimDuration round_trip = kRoundTrip) {
  FecController controller;
  controller.OnLossRatio(loss_ratio, kTimeZero);
  return controller.Parameters(rate, 30, round_trip, kTimeZero);
}

TEST(FecControllerTest, AddsAQuarterUnderLittleLossAndAsMuchAgainUnderMuch) {
  EXPECT_EQ(ParametersAfter(0.0).delta_rate, 0);
  EXPECT_EQ(ParametersAfter(0.0).key_rate, 0);
  EXPECT_EQ(ParametersAfter(0.01).delta_rate, 64);
  EXPECT_GT(ParametersAfter(0.05).delta_rate, 90);
  EXPECT_EQ(ParametersAfter(0.2).delta_rate, 257);
  EXPECT_GT(ParametersAfter(0.01).key_rate, 150);
}

TEST(FecControllerTest, SparesShortRoundTripsAndSmallFrames) {
  EXPECT_EQ(ParametersAfter(0.05, kRate, 19 * kMs).delta_rate, 0);
  EXPECT_GT(ParametersAfter(0.05, kRate, 19 * kMs).key_rate, 0);
  EXPECT_EQ(ParametersAfter(0.05, DataRate::KilobitsPerSecond(160)).delta_rate, 0);
  // Where libwebrtc's would go below its least rate.
  EXPECT_EQ(ParametersAfter(0.05, DataRate::KilobitsPerSecond(160), 250 * kMs).delta_rate, 0);
}

TEST(FecControllerTest, AGroupLastsTwoRoundTripsAtMost) {
  EXPECT_EQ(ParametersAfter(0.01, kRate, 10 * kMs).max_frames, 1);
  EXPECT_EQ(ParametersAfter(0.01, kRate, 50 * kMs).max_frames, 3);
  EXPECT_EQ(ParametersAfter(0.01, kRate, kSecond).max_frames, 6);
}

TEST(FecControllerTest, TheLargestLossOfTenSecondsCounts) {
  FecController controller;
  controller.OnLossRatio(0.3, kTimeZero);
  for (SimTime now = kSecond; now <= 20 * kSecond; now += kSecond) {
    controller.OnLossRatio(0, now);
    EXPECT_EQ(controller.Parameters(kRate, 30, kRoundTrip, now).delta_rate > 0, now <= 11 * kSecond);
  }
}

class FecGeneratorTest : public ::testing::Test {
 protected:
  // A frame of so many packets; returns the FEC packets after its last.
  std::vector<MediaPacket> Frame(int packets, bool key_frame = false) {
    std::vector<MediaPacket> fec;
    for (int i = 0; i < packets; ++i) {
      EXPECT_TRUE(fec.empty());
      Packet packet;
      packet.media_sequence_number = next_++;
      packet.rtp.payload_size = static_cast<uint32_t>(1000 + i);
      packet.frame_part = {.key_frame = key_frame, .first = i == 0, .last = i + 1 == packets};
      fec = generator_.OnSent(packet);
    }
    return fec;
  }

  FecGenerator generator_;
  int64_t next_ = 0;
};

TEST_F(FecGeneratorTest, ProtectsLargeFramesOneByOne) {
  generator_.SetParameters({.delta_rate = 64, .key_rate = 128, .max_frames = 5});
  EXPECT_EQ(Frame(8, true).size(), 4u);
  const auto fec = Frame(8);
  ASSERT_EQ(fec.size(), 2u);
  for (size_t i = 0; i < fec.size(); ++i) {
    EXPECT_EQ(fec[i].repaired_sequence_number, 8);
    EXPECT_EQ(fec[i].fec.packets, 8);
    EXPECT_EQ(fec[i].fec.index, i);
    EXPECT_EQ(fec[i].fec.count, 2);
    EXPECT_EQ(fec[i].payload_bytes, 1007u + 15u);
  }
}

TEST_F(FecGeneratorTest, ProtectsSmallFramesTogether) {
  generator_.SetParameters({.delta_rate = 64, .key_rate = 128, .max_frames = 5});
  int frames = 0, fec = 0;
  for (; frames < 40; ++frames) fec += static_cast<int>(Frame(1).size());
  EXPECT_EQ(fec, frames / 3);
  generator_.SetParameters({.delta_rate = 64, .key_rate = 128, .max_frames = 1});
  for (frames = fec = 0; frames < 40; ++frames) fec += static_cast<int>(Frame(1).size());
  EXPECT_EQ(fec, frames);
}

TEST_F(FecGeneratorTest, WithoutARateThereIsNoneAndTheGroupIsForgotten) {
  EXPECT_FALSE(generator_.active());
  generator_.SetParameters({.delta_rate = 64, .key_rate = 128, .max_frames = 5});
  EXPECT_TRUE(generator_.active());
  EXPECT_TRUE(Frame(1).empty());
  generator_.SetParameters({});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Frame(8).empty());
  generator_.SetParameters({.delta_rate = 64, .key_rate = 128, .max_frames = 5});
  ASSERT_EQ(Frame(4).size(), 1u);
}

Packet Video(int64_t sequence_number) {
  Packet packet;
  packet.media_sequence_number = sequence_number;
  return packet;
}

// Protects the even ones or the odd ones of eight packets from number 10 on.
Packet Fec(uint8_t index) {
  Packet packet = Video(10);
  packet.fec = {.packets = 8, .index = index, .count = 2};
  return packet;
}

TEST(FecReceiverTest, BringsBackTheOnlyPacketThatIsMissing) {
  FecReceiver receiver;
  receiver.OnLost(Video(9));
  receiver.OnLost(Video(13));
  receiver.OnLost(Video(18));
  EXPECT_FALSE(receiver.OnFec(Fec(0)));
  const std::optional<Packet> recovered = receiver.OnFec(Fec(1));
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->media_sequence_number, 13);
  EXPECT_FALSE(receiver.OnFec(Fec(1)));
}

TEST(FecReceiverTest, TwoLossesNeedARetransmission) {
  FecReceiver receiver;
  receiver.OnLost(Video(12));
  receiver.OnLost(Video(14));
  EXPECT_FALSE(receiver.OnFec(Fec(0)));
  receiver.OnRetransmission(12);
  const std::optional<Packet> recovered = receiver.OnFec(Fec(0));
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->media_sequence_number, 14);
}

}  // namespace
}  // namespace weir::sim
