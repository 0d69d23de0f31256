#include "connection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace weir::janus {
namespace {

constexpr int64_t kMaxRateBps = 50'000'000;
constexpr size_t kPacketBytes = 1200;

// A sender that follows REMB, and a link of 1 Mbps with 25 ms of delay and a queue of 300 ms, in simulated time.
class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    weir_model* model = nullptr;
    EXPECT_EQ(weir_model_load_shipped(&model), WEIR_OK);
    weir_controller* controller = nullptr;
    EXPECT_EQ(weir_controller_create_policy(model, 0, &controller), WEIR_OK);
    weir_model_destroy(model);
    controller_.reset(controller, weir_controller_destroy);
    negotiated_.payload_types[96] = {.estimated = true, .is_video = true, .clock_rate_hz = 90000};
    negotiated_.abs_send_time_id = 3;
    negotiated_.transport_cc = true;
  }

  std::unique_ptr<Connection> Create(bool in_charge) {
    return Connection::Create(controller_.get(), kMaxRateBps, negotiated_, in_charge);
  }

  std::vector<uint8_t> Packet(uint16_t sequence_number, int64_t send_time_us) const {
    const auto time = static_cast<uint32_t>((send_time_us << 18) / 1'000'000);
    const auto byte = [](auto value) { return static_cast<uint8_t>(value); };
    std::vector<uint8_t> packet = {
        0x90, 96,   byte(sequence_number >> 8), byte(sequence_number), 0,         0, 0, 0, 0, 0, 0, 1, 0xbe, 0xde, 0,
        1,    0x32, byte(time >> 16),           byte(time >> 8),       byte(time)};
    packet.resize(kPacketBytes);
    return packet;
  }

  // Runs a call until `end_us`; `loses_every`-th packets are lost, and sent again 100 ms later.
  void Run(Connection* connection, int64_t end_us, int loses_every = 0) {
    for (; now_us_ < end_us; now_us_ += 1000) {
      const Feedback feedback = connection->OnTimeout(now_us_);
      if (feedback.remb_bps) {
        remb_bps_ = *feedback.remb_bps;
        remote_estimate_ = feedback.remote_estimate;
        ++rembs_;
      }
      for (budget_bits_ += static_cast<double>(std::min<int64_t>(remb_bps_, 5'000'000)) / 1000;
           budget_bits_ > 8 * kPacketBytes; budget_bits_ -= 8 * kPacketBytes) {
        const bool is_lost = loses_every > 0 && sequence_number_ % loses_every == 0;
        if (is_lost) again_.push_back({now_us_ + 100'000, sequence_number_});
        if (!is_lost) Send(sequence_number_);
        ++sequence_number_;
      }
      for (; !again_.empty() && again_.front().time_us <= now_us_; again_.pop_front()) Send(again_.front().number);
      for (; !link_.empty() && link_.front().time_us <= now_us_; link_.pop_front())
        connection->OnPacket(Packet(link_.front().number, link_.front().send_time_us), now_us_);
    }
  }

  std::shared_ptr<weir_controller> controller_;
  Negotiated negotiated_;
  int64_t now_us_ = 1'000'000;
  uint32_t remb_bps_ = 300'000;
  std::optional<std::array<uint8_t, WEIR_REMOTE_ESTIMATE_SIZE>> remote_estimate_;
  int rembs_ = 0;

 private:
  struct OnLink {
    int64_t time_us;  // of the arrival
    uint16_t number;
    int64_t send_time_us = 0;
  };

  void Send(uint16_t number) {
    const int64_t begin_us = std::max(free_us_, now_us_);
    if (begin_us - now_us_ > 300'000) return;
    free_us_ = begin_us + static_cast<int64_t>(8 * kPacketBytes);  // at 1 bit/us
    link_.push_back({free_us_ + 25'000, number, now_us_});
  }

  double budget_bits_ = 0;
  uint16_t sequence_number_ = 0;
  int64_t free_us_ = 0;
  std::deque<OnLink> link_;
  std::deque<OnLink> again_;
};

TEST_F(ConnectionTest, RembFollowsTheLink) {
  const auto connection = Create(true);
  Run(connection.get(), 30'000'000);
  EXPECT_GT(remb_bps_, 700'000u);
  EXPECT_LT(remb_bps_, 1'150'000u);
  ASSERT_TRUE(remote_estimate_);
  // 1,000,000 kbps.
  EXPECT_EQ(std::vector<uint8_t>(remote_estimate_->end() - 4, remote_estimate_->end()),
            (std::vector<uint8_t>{0x01, 0x0f, 0x42, 0x40}));
}

TEST_F(ConnectionTest, ObserverSendsNothingAndHasStatistics) {
  const auto connection = Create(false);
  EXPECT_FALSE(connection->latest_packet_us());
  Run(connection.get(), 10'000'000);
  EXPECT_EQ(rembs_, 0);
  ASSERT_TRUE(connection->latest_packet_us());
  EXPECT_NEAR(static_cast<double>(*connection->latest_packet_us()), 10e6, 1e5);
  EXPECT_NEAR(static_cast<double>(connection->GetStatistics(now_us_).receive_rate_bps), 3.1e5, 0.3e5);
}

TEST_F(ConnectionTest, SwitchingBackLiftsBothLimits) {
  const auto connection = Create(true);
  Run(connection.get(), 5'000'000);
  const int before = rembs_;
  connection->SetInCharge(false);
  Run(connection.get(), 10'000'000);
  EXPECT_EQ(rembs_, before + 1);
  EXPECT_EQ(remb_bps_, 1'000'000'000u);
  EXPECT_EQ(remote_estimate_->back(), 0);
  connection->SetInCharge(true);
  Run(connection.get(), 10'020'000);
  EXPECT_EQ(rembs_, before + 2) << "Weir limits at once";
}

TEST_F(ConnectionTest, RembOfTheWrappedPlugInBoundsWeirs) {
  const auto connection = Create(true);
  connection->OnOtherRemb(200'000, now_us_);
  Run(connection.get(), 10'000'000);
  EXPECT_EQ(remb_bps_, 200'000u);
  connection->SetInCharge(false);
  Run(connection.get(), 10'100'000);
  EXPECT_EQ(remb_bps_, 200'000u) << "its limit is in force again";
  connection->OnOtherRemb(0, now_us_);
  EXPECT_FALSE(connection->other_remb_bps());
  connection->OnOtherRemb(1, now_us_);
  connection->OnOtherRemb(UINT32_MAX, now_us_);
}

TEST_F(ConnectionTest, WithoutTransportCcThereIsNoRemoteEstimate) {
  negotiated_.transport_cc = false;
  const auto connection = Create(true);
  Run(connection.get(), 2'000'000);
  EXPECT_GT(rembs_, 0);
  EXPECT_FALSE(remote_estimate_);
}

TEST_F(ConnectionTest, LossThatJanusRepairsIsStillLoss) {
  const auto connection = Create(false);
  Run(connection.get(), 10'000'000, 20);
  const weir_estimator_statistics statistics = connection->GetStatistics(now_us_);
  EXPECT_NEAR(statistics.loss_ratio, 0.05, 0.02);
  EXPECT_GT(statistics.packets_lost, 10);
}

TEST_F(ConnectionTest, ImpossibleMaximumIsRefused) {
  EXPECT_EQ(Connection::Create(controller_.get(), 0, negotiated_, true), nullptr);
}

}  // namespace
}  // namespace weir::janus
