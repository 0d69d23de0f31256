#include "uplink.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "observe/folder.h"
#include "shipped_settings.h"

namespace weir::mediasoup {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr uint32_t kPayloadBytes = 1000;

// A sender that obeys each REMB at once, behind a queue.
class UplinkTest : public testing::Test {
 protected:
  void Begin(const std::string& folder = "") {
    settings_ = ShippedSettings(folder);
    uplink_.emplace(*settings_, "a", "gcc-remb");
  }

  void Run(double seconds, int64_t capacity_bps, bool sends = true) {
    const int64_t end_us = now_us_ + static_cast<int64_t>(seconds * kSecondUs);
    for (; now_us_ < end_us; now_us_ += 1000) {
      if (sends) owed_ += static_cast<double>(rate_bps_) / 8 / 1000;
      for (; owed_ >= kPayloadBytes; owed_ -= kPayloadBytes) Send(capacity_bps);
      while (!arriving_.empty() && arriving_.front().arrival_time_us <= now_us_) {
        uplink_->OnPacket(arriving_.front());
        arriving_.erase(arriving_.begin());
      }
      if (uplink_->next_us() > now_us_) continue;
      if (const auto remb = uplink_->Poll(other_bps_, now_us_)) {
        rembs_.push_back(*remb);
        if (remb->bitrate_bps > 0) rate_bps_ = remb->bitrate_bps;
      }
    }
  }

  std::unique_ptr<Settings> settings_;
  std::optional<Uplink> uplink_;
  std::optional<int64_t> other_bps_ = 500'000;
  std::vector<Remb> rembs_;
  int64_t now_us_ = kSecondUs;
  int64_t rate_bps_ = 300'000;

 private:
  void Send(int64_t capacity_bps) {
    // 300 ms of queue.
    if (free_us_ - now_us_ >= 300'000) {
      ++number_;
      return;
    }
    free_us_ = std::max(free_us_, now_us_) + int64_t{kPayloadBytes + 20} * 8 * kSecondUs / capacity_bps;
    weir_packet packet{};
    packet.arrival_time_us = (free_us_ + 20'000) / 1000 * 1000;
    packet.ssrc = 7;
    packet.sequence_number = number_++;
    packet.has_abs_send_time = 1;
    packet.abs_send_time = static_cast<uint32_t>((now_us_ << 18) / kSecondUs) & 0xFFFFFF;
    packet.header_bytes = 20;
    packet.payload_bytes = kPayloadBytes;
    arriving_.push_back(packet);
  }

  uint16_t number_ = 65'000;
  double owed_ = 0;
  int64_t free_us_ = 0;
  std::vector<weir_packet> arriving_;
};

TEST_F(UplinkTest, TheStartRateIsRepeatedUntilTheFirstPacket) {
  Begin();
  Run(1, 2'000'000, false);
  EXPECT_GE(rembs_.size(), 4u);
  EXPECT_LE(rembs_.size(), 7u);
  for (const Remb& remb : rembs_) {
    EXPECT_EQ(remb.bitrate_bps, 300'000);
    EXPECT_TRUE(remb.ssrcs.empty());
  }
  Run(20, 2'000'000, false);
  const size_t sent = rembs_.size();
  EXPECT_LE(sent, 60u);
}

TEST_F(UplinkTest, RembFollowsTheCapacityAndNamesTheStreams) {
  Begin();
  Run(15, 2'000'000);
  EXPECT_GT(rate_bps_, 1'300'000);
  EXPECT_LT(rate_bps_, 2'300'000);
  EXPECT_EQ(rembs_.back().ssrcs, std::vector<uint32_t>{7});
  EXPECT_EQ(uplink_->target_bps(), rate_bps_);
  Run(5, 500'000);
  EXPECT_LT(rate_bps_, 650'000);
  uplink_->RemoveStream(7);
}

TEST_F(UplinkTest, AnObserverSendsNothing) {
  observe::Folder folder;
  Begin(folder.path());
  Run(1, 2'000'000, false);
  Run(5, 2'000'000);
  EXPECT_TRUE(rembs_.empty());
  EXPECT_FALSE(uplink_->is_weir_in_charge());
  const std::vector<std::string> lines = folder.LogLines();
  ASSERT_GE(lines.size(), 5u);
  EXPECT_NE(lines.back().find(R"("in_charge":"gcc-remb","other_bps":500000)"), std::string::npos) << lines.back();
}

TEST_F(UplinkTest, AfterASwitchBackFourRembsLiftTheLimit) {
  observe::Folder folder;
  folder.Write("in_charge", "1");
  Begin(folder.path());
  Run(3, 2'000'000);
  EXPECT_TRUE(uplink_->is_weir_in_charge());
  folder.Write("in_charge", "0");
  const auto in_charge = static_cast<std::ptrdiff_t>(rembs_.size());
  Run(5, 2'000'000);
  EXPECT_FALSE(uplink_->is_weir_in_charge());
  const auto lifts =
      std::count_if(rembs_.begin() + in_charge, rembs_.end(), [](const Remb& remb) { return remb.bitrate_bps == 0; });
  EXPECT_EQ(lifts, 4);
  EXPECT_EQ(rembs_.back().bitrate_bps, 0);
  folder.Write("in_charge", "1");
  Run(1, 2'000'000);
  EXPECT_GT(rembs_.back().bitrate_bps, 0);
}

}  // namespace
}  // namespace weir::mediasoup
