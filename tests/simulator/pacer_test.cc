// The pacer's arithmetic: who leaves when, at whose expense.
#include "endpoints/pacer.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/event.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr uint32_t kOverhead = 52;
constexpr MediaPacket kVideo{.kind = PacketKind::kVideo, .payload_bytes = 1200};
constexpr MediaPacket kAudio{.kind = PacketKind::kAudio, .payload_bytes = 80};

struct Departure {
  SimTime time;
  MediaPacket packet;
};

class PacerTest : public testing::Test {
 protected:
  std::vector<Departure> SendUntil(SimTime until) {
    std::vector<Departure> departures;
    while (true) {
      const SimTime next = std::max(now_, pacer_.next_send_time(now_));
      if (next >= until) break;
      now_ = next;
      const auto packet = pacer_.Take(now_);
      EXPECT_TRUE(packet) << "promised a packet at " << now_.ns();
      if (!packet) break;
      departures.push_back({now_, *packet});
    }
    now_ = until;
    return departures;
  }

  void AddProbeCluster(int id, int64_t kbps) {
    pacer_.AddProbeCluster({.at_time = Timestamp::Micros(0),
                            .id = id,
                            .target_data_rate = DataRate::KilobitsPerSecond(kbps),
                            .target_duration = TimeDelta::Millis(15),
                            .target_probe_count = 5});
  }

  Pacer pacer_{kOverhead};
  SimTime now_ = kTimeZero;
};

TEST_F(PacerTest, MediaLeavesAtThePacingRateInBursts) {
  // A packet is 10 ms, so a burst is four of them; the next waits until all are paid for.
  pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecond(1252 * 8 * 100)}, kTimeZero);
  for (int i = 0; i < 10; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  const auto departures = SendUntil(1000 * kMs);
  ASSERT_EQ(departures.size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(departures[i].time, static_cast<int64_t>(i / 4) * 40 * kMs);
  EXPECT_TRUE(pacer_.empty());
  EXPECT_EQ(pacer_.next_send_time(now_), kNever);
}

TEST_F(PacerTest, AShortBurstIntervalSpacesPackets) {
  pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecond(1252 * 8 * 100), .burst_interval = TimeDelta::Millis(1)},
                   kTimeZero);
  for (int i = 0; i < 3; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  const auto departures = SendUntil(1000 * kMs);
  ASSERT_EQ(departures.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(departures[i].time, static_cast<int64_t>(i) * 10 * kMs);
}

TEST_F(PacerTest, WhileCongestedOnlyALittlePaddingLeaves) {
  pacer_.SetConfig({.pacing_rate = DataRate::KilobitsPerSecond(1'000)}, kTimeZero);
  pacer_.SetActive(true);
  pacer_.SetCongested(true);
  for (int i = 0; i < 3; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  const auto padding = SendUntil(1600 * kMs);
  ASSERT_EQ(padding.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(padding[i].time, static_cast<int64_t>(i + 1) * 500 * kMs);
    EXPECT_EQ(padding[i].packet.kind, PacketKind::kProbe);
    EXPECT_EQ(padding[i].packet.payload_bytes, 0u);
  }
  pacer_.SetCongested(false);
  const auto media = SendUntil(3000 * kMs);
  ASSERT_EQ(media.size(), 3u);
  for (const auto& departure : media) EXPECT_EQ(departure.packet.kind, PacketKind::kVideo);
}

TEST_F(PacerTest, RetransmissionsLeaveBeforeNewMedia) {
  pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecond(1252 * 8 * 10)}, kTimeZero);
  for (int i = 0; i < 3; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  ASSERT_EQ(SendUntil(1 * kMs).size(), 1u);
  pacer_.Enqueue({.kind = PacketKind::kRetransmission, .payload_bytes = 1200}, now_);
  const auto departures = SendUntil(1000 * kMs);
  ASSERT_EQ(departures.size(), 3u);
  EXPECT_EQ(departures[0].packet.kind, PacketKind::kRetransmission);
  EXPECT_EQ(departures[1].packet.kind, PacketKind::kVideo);
}

TEST_F(PacerTest, AChangeOfRateCountsForTheDebt) {
  pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecond(1252 * 8 * 100)}, kTimeZero);
  for (int i = 0; i < 5; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  ASSERT_EQ(SendUntil(5 * kMs).size(), 4u);
  pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecond(1252 * 8 * 50)}, now_);
  const auto departures = SendUntil(100 * kMs);
  ASSERT_EQ(departures.size(), 1u);
  EXPECT_EQ(departures[0].time, 75 * kMs);
}

TEST_F(PacerTest, ARateOfZeroHoldsMediaButNotAudio) {
  pacer_.Enqueue(kVideo, kTimeZero);
  pacer_.Enqueue(kAudio, kTimeZero);
  const auto departures = SendUntil(1000 * kMs);
  ASSERT_EQ(departures.size(), 1u);
  EXPECT_EQ(departures[0].packet.kind, PacketKind::kAudio);
  EXPECT_FALSE(pacer_.empty());
}

TEST_F(PacerTest, SpeedsUpBeforeAPacketWaitsTwoSeconds) {
  pacer_.SetConfig({.pacing_rate = DataRate::KilobitsPerSecond(100)}, kTimeZero);
  for (int i = 0; i < 100; ++i) pacer_.Enqueue(kVideo, kTimeZero);  // 10 s worth
  const auto departures = SendUntil(10'000 * kMs);
  ASSERT_EQ(departures.size(), 100u);
  EXPECT_GT(departures.back().time, 1'500 * kMs);
  EXPECT_LE(departures.back().time, 2'010 * kMs);
}

TEST_F(PacerTest, PaddingFillsUpToItsRate) {
  pacer_.SetConfig(
      {.pacing_rate = DataRate::KilobitsPerSecond(2'500), .padding_rate = DataRate::KilobitsPerSecond(1'000)},
      kTimeZero);
  pacer_.SetActive(true);
  int64_t media_bits = 0, padding_bits = 0;
  for (int i = 0; i < 100; ++i) {
    pacer_.Enqueue(kVideo, now_);  // every 50 ms: 200 kbit/s
    for (const Departure& departure : SendUntil((i + 1) * 50 * kMs)) {
      const bool padding = departure.packet.kind == PacketKind::kProbe;
      (padding ? padding_bits : media_bits) += (departure.packet.payload_bytes + kOverhead) * 8;
    }
  }
  EXPECT_EQ(media_bits, 100 * 1252 * 8);
  EXPECT_GT(media_bits + padding_bits, 4'900'000);
  EXPECT_LT(media_bits + padding_bits, 5'100'000);
  pacer_.SetActive(false);
  EXPECT_EQ(pacer_.next_send_time(now_), kNever);
}

TEST_F(PacerTest, AProbeClusterGoesOutAtItsRate) {
  pacer_.SetConfig({.pacing_rate = DataRate::KilobitsPerSecond(100)}, kTimeZero);
  pacer_.SetActive(true);
  AddProbeCluster(7, 2'000);
  pacer_.Enqueue(kVideo, kTimeZero);
  const auto departures = SendUntil(1000 * kMs);
  // 5 steps of 4 ms at 2 Mbit/s are 5,000 bytes, but 5 packets are more.
  ASSERT_EQ(departures.size(), 5u);
  EXPECT_EQ(departures[0].packet.kind, PacketKind::kVideo);  // media first, then padding
  EXPECT_EQ(departures[1].packet.kind, PacketKind::kProbe);
  for (size_t i = 0; i < departures.size(); ++i) {
    const PacedPacketInfo& info = departures[i].packet.pacing_info;
    EXPECT_EQ(info.probe_cluster_id, 7);
    EXPECT_EQ(info.probe_cluster_min_probes, 5);
    EXPECT_EQ(info.probe_cluster_min_size.bytes(), 3'750);
    EXPECT_EQ(info.probe_cluster_bytes_sent.bytes(), static_cast<int64_t>(i) * 1252);
    EXPECT_EQ(departures[i].time, kTimeZero + TransmissionTime(static_cast<int64_t>(i) * 1252, 2'000'000));
  }
}

TEST_F(PacerTest, MediaDoesNotComeBetweenTheProbesOfACluster) {
  // The burst would let all of it go at once.
  pacer_.SetConfig({.pacing_rate = DataRate::KilobitsPerSecond(50'000)}, kTimeZero);
  pacer_.SetActive(true);
  AddProbeCluster(7, 2'000);
  for (int i = 0; i < 8; ++i) pacer_.Enqueue(kVideo, kTimeZero);
  const auto departures = SendUntil(1000 * kMs);
  ASSERT_EQ(departures.size(), 8u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(departures[i].packet.pacing_info.probe_cluster_id, 7);
    EXPECT_EQ(departures[i].time, kTimeZero + TransmissionTime(static_cast<int64_t>(i) * 1252, 2'000'000));
  }
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(departures[i].time, departures[4].time);
}

TEST_F(PacerTest, FastProbesAreLongerAndSlowOnesSmaller) {
  pacer_.SetActive(true);
  AddProbeCluster(1, 20'000);
  const auto fast = SendUntil(1000 * kMs);
  EXPECT_EQ(fast.size(), 40u);  // 20 ms at 20 Mbit/s are 50,000 bytes
  AddProbeCluster(2, 200);
  const auto slow = SendUntil(2000 * kMs);
  ASSERT_EQ(slow.size(), 5u);
  EXPECT_EQ(slow[0].packet.payload_bytes, 0u);
  EXPECT_EQ(slow[0].packet.padding_bytes, 224u);
}

}  // namespace
}  // namespace weir::sim
