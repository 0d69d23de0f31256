#include "weir/repair_monitor.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir {
namespace {

constexpr uint32_t kSsrc = 7, kRetransmissionSsrc = 8;

class RepairMonitorTest : public ::testing::Test {
 protected:
  // Receives `count` packets, one each 5 ms.
  void Receive(int count) {
    for (int i = 0; i < count; ++i) {
      now_ += TimeDelta::Millis(5);
      monitor_.OnPacket(kSsrc, sequence_number_++, now_);
    }
  }
  // Loses a packet, whose retransmission comes `repair_ms` after the next packet. Ends 500 ms after the loss.
  void LoseOne(int64_t repair_ms) {
    const uint16_t lost = sequence_number_++;
    Receive(1);
    const Timestamp detected = now_;
    const int before = static_cast<int>(repair_ms / 5);
    Receive(before);
    Retransmit(lost, detected + TimeDelta::Millis(repair_ms));
    Receive(100 - before);
  }
  void Retransmit(uint16_t original, Timestamp at) {
    const uint8_t payload[] = {static_cast<uint8_t>(original >> 8), static_cast<uint8_t>(original), 0};
    monitor_.OnRetransmission(kRetransmissionSsrc, retransmission_number_++, payload, at);
  }

  RepairMonitor monitor_;
  Timestamp now_ = Timestamp::Seconds(1);
  // Wraps soon.
  uint16_t sequence_number_ = 65'400;
  uint16_t retransmission_number_ = 65'530;
};

TEST_F(RepairMonitorTest, WithoutLossThereIsNothing) {
  Receive(1000);
  const RepairObservation observation = monitor_.Observe(now_, Repair::kNack);
  EXPECT_EQ(observation.at_time, now_);
  EXPECT_FALSE(observation.repair_time);
  EXPECT_EQ(observation.loss_ratio, 0);
  EXPECT_EQ(observation.nack_loss_ratio, 0);
}

TEST_F(RepairMonitorTest, MeasuresTheUsualRepairAndTheLossBeforeIt) {
  Receive(1);
  for (const int64_t repair_ms : {50, 55, 60, 200, 45}) LoseOne(repair_ms);
  const RepairObservation observation = monitor_.Observe(now_, Repair::kNack);
  EXPECT_EQ(observation.repair_time, TimeDelta::Millis(55));
  EXPECT_NEAR(observation.loss_ratio, 0.01, 0.001) << "a repaired packet was lost";
  EXPECT_EQ(observation.nack_loss_ratio, 0) << "one second request may be chance";
}

TEST_F(RepairMonitorTest, TwoRepairsAreNoMeasurement) {
  LoseOne(50);
  LoseOne(50);
  EXPECT_FALSE(monitor_.Observe(now_, Repair::kNack).repair_time);
}

TEST_F(RepairMonitorTest, SecondRequestsBeyondTheLossRatioAreLostNacks) {
  Receive(1);
  for (int i = 0; i < 20; ++i) LoseOne(i % 4 == 3 ? 180 : 50);
  EXPECT_GT(monitor_.Observe(now_, Repair::kNack).nack_loss_ratio, 0.2);
}

TEST_F(RepairMonitorTest, LostRetransmissionsAreNoLostNacks) {
  Receive(1);
  for (int i = 0; i < 20; ++i) {
    const bool answer_is_lost = i % 4 == 3;
    if (answer_is_lost) ++retransmission_number_;
    LoseOne(answer_is_lost ? 180 : 50);
  }
  EXPECT_EQ(monitor_.Observe(now_, Repair::kNack).nack_loss_ratio, 0);
}

TEST_F(RepairMonitorTest, LostRetransmissionsAreNoLostNacksAfterMinutes) {
  Receive(1);
  // 240 losses, two a second, with half of their answers lost.
  for (int i = 0; i < 240; ++i) {
    const bool answer_is_lost = i % 2 == 1;
    if (answer_is_lost) ++retransmission_number_;
    LoseOne(answer_is_lost ? 180 : 50);
    ASSERT_EQ(monitor_.Observe(now_, Repair::kNack).nack_loss_ratio, 0) << i;
  }
}

TEST_F(RepairMonitorTest, PaddingAndReorderedRetransmissionsAreNoLostOnes) {
  Receive(1);
  for (int i = 0; i < 20; ++i) {
    LoseOne(i % 4 == 3 ? 180 : 50);
    // Two packets of padding, the second one first.
    const uint16_t first = retransmission_number_;
    retransmission_number_ += 2;
    monitor_.OnRetransmission(kRetransmissionSsrc, first + 1, {}, now_);
    monitor_.OnRetransmission(kRetransmissionSsrc, first, {}, now_);
  }
  EXPECT_GT(monitor_.Observe(now_, Repair::kNack).nack_loss_ratio, 0.2);
}

TEST_F(RepairMonitorTest, PacketsThatNeverComeCountOnlyWithoutFec) {
  const auto nack_loss = [](Repair in_force) {
    RepairMonitor monitor;
    Timestamp now = Timestamp::Seconds(1);
    for (uint16_t number = 0; number < 1000; ++number) {
      now += TimeDelta::Millis(5);
      if (number % 50 != 49) monitor.OnPacket(kSsrc, number, now);
    }
    return monitor.Observe(now, in_force).nack_loss_ratio;
  };
  EXPECT_GT(nack_loss(Repair::kNack), 0.5);
  EXPECT_EQ(nack_loss(Repair::kFec), 0);
}

TEST_F(RepairMonitorTest, PacketsThatNeverComeDoNotCountJustAfterFec) {
  Receive(1);
  for (int i = 0; i < 20; ++i) LoseOne(50);
  monitor_.Observe(now_, Repair::kFec);
  // FEC packets that the sender sent before it followed the new description.
  for (int i = 0; i < 10; ++i) {
    ++sequence_number_;
    Receive(10);
  }
  Receive(200);
  EXPECT_EQ(monitor_.Observe(now_, Repair::kNack).nack_loss_ratio, 0);
}

TEST_F(RepairMonitorTest, ACopyThatComesBeforeTheGapRepairsThePacket) {
  Receive(1);
  for (int i = 0; i < 10; ++i) LoseOne(50);
  for (int i = 0; i < 20; ++i) {
    // A probe: the copy of the lost packet precedes the next one.
    Retransmit(sequence_number_++, now_);
    Receive(100);
  }
  Receive(200);
  const RepairObservation observation = monitor_.Observe(now_, Repair::kNack);
  EXPECT_EQ(observation.nack_loss_ratio, 0);
  EXPECT_GT(observation.loss_ratio, 0.005) << "it was lost before the repair";
}

TEST_F(RepairMonitorTest, ALatePacketIsNotLost) {
  Receive(100);
  const uint16_t late = sequence_number_++;
  Receive(3);
  monitor_.OnPacket(kSsrc, late, now_);
  Receive(300);
  const RepairObservation observation = monitor_.Observe(now_, Repair::kNack);
  EXPECT_EQ(observation.loss_ratio, 0);
  EXPECT_EQ(observation.nack_loss_ratio, 0);
}

TEST_F(RepairMonitorTest, OldLossesCountLess) {
  for (int i = 0; i < 5; ++i) LoseOne(50);
  const double at_once = monitor_.Observe(now_, Repair::kNack).loss_ratio;
  Receive(2000);
  monitor_.Observe(now_, Repair::kNack);
  Receive(2000);
  EXPECT_LT(monitor_.Observe(now_, Repair::kNack).loss_ratio, at_once / 3);
}

TEST_F(RepairMonitorTest, ANewBeginningAndUnknownRetransmissionsAreNoLosses) {
  Receive(10);
  sequence_number_ = 30'000;
  Receive(10);
  for (uint16_t number = 0; number < 1000; ++number) Retransmit(number, now_);
  for (uint32_t ssrc = 100; ssrc < 200; ++ssrc) monitor_.OnPacket(ssrc, 5, now_);
  const RepairObservation observation = monitor_.Observe(now_, Repair::kNack);
  EXPECT_EQ(observation.loss_ratio, 0);
  EXPECT_FALSE(observation.repair_time);
}

}  // namespace
}  // namespace weir
