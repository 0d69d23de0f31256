#include "downlink.h"

#include <algorithm>
#include <array>
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
constexpr uint32_t kPacketBytes = 1000;
constexpr uint32_t kPaddingBytes = 100;
// As shares of their mean.
constexpr std::array<double, 4> kFrameSizes{1.6, 0.7, 1.0, 0.7};

// A path with a queue, to whose end a server sends media at `media_bps`, and padding in probe clusters. Feedback comes
// every 50 ms, 20 ms after the arrivals. Times are those of a millisecond, as in mediasoup.
class DownlinkTest : public testing::Test {
 protected:
  void Begin(const std::string& folder = "") {
    settings_ = ShippedSettings(folder);
    downlink_.emplace(*settings_, "a", Constraints{30'000, 600'000, 3'000'000});
  }

  void Run(double seconds, int64_t capacity_bps, std::optional<int64_t> media_bps) {
    const int64_t end_us = now_us_ + static_cast<int64_t>(seconds * kSecondUs);
    for (; now_us_ < end_us; now_us_ += 1000) {
      if (now_us_ % 25'000 == 0) Update();
      lowest_target_bps_ = std::min(lowest_target_bps_, downlink_->target_bps());
      int64_t rate_bps = media_bps.value_or(downlink_->target_bps());
      if (rate_bps < lowest_layer_bps_) rate_bps = 0;
      owed_ += static_cast<double>(rate_bps) / 8 / 1000;
      if (now_us_ % frame_interval_us_ == 0) {
        // As with temporal layers.
        if (frame_interval_us_ > 1000) owed_ *= kFrameSizes[frames_++ % kFrameSizes.size()];
        for (; owed_ >= kPacketBytes; owed_ -= kPacketBytes) Send(capacity_bps, kPacketBytes, 0);
      }
      if (cluster_.id != 0) SendCluster(capacity_bps);
      if (now_us_ % 50'000 == 0) Report();
    }
  }

  void Update() {
    in_charge_ = downlink_->Update(other_bps_, now_us_);
    if (!in_charge_ || cluster_.id != 0) return;
    cluster_ = downlink_->TakeProbeCluster();
    if (cluster_.id == 0) return;
    ++clusters_;
    cluster_began_us_ = now_us_;
    cluster_bytes_ = 0;
  }

  // At its rate, until it has its packets and its bytes.
  void SendCluster(int64_t capacity_bps) {
    const int64_t elapsed_us = now_us_ - cluster_began_us_;
    while (cluster_.id != 0 && cluster_bytes_ * 8 * kSecondUs <= cluster_.target_data_rate_bps * elapsed_us) {
      Send(capacity_bps, kPaddingBytes, cluster_.id);
      cluster_bytes_ += kPaddingBytes;
      const bool enough =
          cluster_bytes_ * 8 * kSecondUs >= cluster_.target_data_rate_bps * cluster_.target_duration_us &&
          cluster_bytes_ >= kPaddingBytes * cluster_.target_probe_count;
      if (enough) cluster_.id = 0;
    }
  }

  void Send(int64_t capacity_bps, uint32_t size_bytes, int32_t cluster) {
    downlink_->OnSentPacket(number_, now_us_, size_bytes, cluster);
    if (free_us_ - now_us_ < longest_queue_us_) {
      free_us_ = std::max(free_us_, now_us_) + int64_t{size_bytes} * 8 * kSecondUs / capacity_bps;
      reports_.push_back({(free_us_ + 20'000) / 1000 * 1000, number_, WEIR_PACKET_RECEIVED, 0});
    } else {
      reports_.push_back({now_us_ + longest_queue_us_ + 20'000, number_, WEIR_PACKET_LOST, 0});
    }
    ++number_;
  }

  void Report() {
    std::vector<weir_packet_feedback> arrived;
    const auto pending = std::ranges::find_if(
        reports_, [&](const weir_packet_feedback& report) { return report.receive_time_us + 20'000 > now_us_; });
    arrived.assign(reports_.begin(), pending);
    reports_.erase(reports_.begin(), pending);
    if (!arrived.empty()) downlink_->OnFeedback(arrived, now_us_);
  }

  std::unique_ptr<Settings> settings_;
  std::optional<Downlink> downlink_;
  std::optional<int64_t> other_bps_ = 500'000;
  int64_t longest_queue_us_ = 300'000;
  // mediasoup sends each frame at once.
  int64_t frame_interval_us_ = 1000;
  int64_t lowest_target_bps_ = 0;
  // Below it mediasoup sends nothing.
  int64_t lowest_layer_bps_ = 0;
  bool in_charge_ = false;
  int clusters_ = 0;
  int64_t now_us_ = kSecondUs;

 private:
  uint16_t number_ = 65'000;
  double owed_ = 0;
  size_t frames_ = 0;
  int64_t free_us_ = 0;
  std::vector<weir_packet_feedback> reports_;
  weir_probe_cluster cluster_{};
  int64_t cluster_began_us_ = 0;
  int64_t cluster_bytes_ = 0;
};

TEST_F(DownlinkTest, TheTargetFollowsTheCapacity) {
  Begin();
  Run(10, 2'000'000, std::nullopt);
  EXPECT_TRUE(in_charge_);
  EXPECT_GT(downlink_->target_bps(), 1'400'000);
  EXPECT_LT(downlink_->target_bps(), 2'200'000);
  Run(5, 500'000, std::nullopt);
  EXPECT_LT(downlink_->target_bps(), 600'000);
  EXPECT_GT(downlink_->target_bps(), 250'000);
}

TEST_F(DownlinkTest, WithADesiredRateProbesShowThatTheNextLayerFits) {
  Begin();
  downlink_->SetDesiredRate(2'000'000);
  Run(10, 4'000'000, 500'000);
  EXPECT_GT(clusters_, 0);
  EXPECT_GT(downlink_->target_bps(), 1'500'000);
}

TEST_F(DownlinkTest, AfterAPauseOfAllMediaTheTargetRisesAgain) {
  Begin();
  downlink_->SetDesiredRate(2'000'000);
  lowest_layer_bps_ = 150'000;
  Run(5, 2'000'000, std::nullopt);
  Run(5, 50'000, std::nullopt);
  EXPECT_LT(downlink_->target_bps(), lowest_layer_bps_);
  Run(10, 2'000'000, std::nullopt);
  EXPECT_GT(downlink_->target_bps(), 500'000);
}

// A frame of 1.5 Mbps takes 60 ms of a link of 2.5 Mbps.
TEST_F(DownlinkTest, FramesThatAreSentAtOnceAreNoQueue) {
  for (const int64_t interval_us : {33'000, 67'000, 100'000, 200'000}) {
    Begin();
    downlink_->SetDesiredRate(2'025'000);
    frame_interval_us_ = interval_us;
    Run(5, 2'500'000, 500'000);
    EXPECT_GT(downlink_->target_bps(), 1'600'000) << interval_us;
    Run(2, 2'500'000, 1'500'000);
    lowest_target_bps_ = 3'000'000;
    Run(20, 2'500'000, 1'500'000);
    EXPECT_GT(lowest_target_bps_, 1'500'000) << interval_us;
  }
}

// The probes of the time before cost more than 2.5 % of what a link that nearly stops lets through.
TEST_F(DownlinkTest, AfterALinkThatNearlyStoppedMediaAreBackInFourSeconds) {
  Begin();
  downlink_->SetDesiredRate(2'900'000);
  lowest_layer_bps_ = 150'000;
  longest_queue_us_ = 2'500'000;
  Run(5, 4'000'000, 1'500'000);
  Run(2, 900'000, std::nullopt);
  Run(5, 4'000'000, std::nullopt);
  Run(4, 50'000, std::nullopt);
  EXPECT_LT(downlink_->target_bps(), lowest_layer_bps_);
  Run(4, 2'000'000, std::nullopt);
  EXPECT_GT(downlink_->target_bps(), 500'000);
}

TEST_F(DownlinkTest, TheTargetStaysWithinTheConstraints) {
  Begin();
  downlink_->SetConstraints({.max_bps = 800'000}, now_us_);
  Run(10, 4'000'000, std::nullopt);
  EXPECT_LE(downlink_->target_bps(), 800'000);
  downlink_->SetConstraints({.min_bps = 900'000, .max_bps = 800'000}, now_us_);
  Run(1, 4'000'000, std::nullopt);
  EXPECT_EQ(downlink_->target_bps(), 900'000);
}

TEST_F(DownlinkTest, AnObserverIsNotInChargeAndSendsNoProbes) {
  observe::Folder folder;
  Begin(folder.path());
  downlink_->SetDesiredRate(2'000'000);
  Run(5, 4'000'000, 500'000);
  EXPECT_FALSE(in_charge_);
  EXPECT_EQ(clusters_, 0);
  const std::vector<std::string> lines = folder.LogLines();
  ASSERT_GE(lines.size(), 5u);
  EXPECT_LE(lines.size(), 7u);
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_NE(lines[i].find(R"("in_charge":"gcc","other_bps":500000,"weir_bps":)"), std::string::npos) << lines[i];
  }
  folder.Write("in_charge", "1");
  Run(5, 4'000'000, 500'000);
  EXPECT_TRUE(in_charge_);
  EXPECT_GT(clusters_, 0);
  folder.Write("in_charge", "0");
  Run(0.6, 4'000'000, 500'000);
  EXPECT_FALSE(in_charge_);
}

TEST_F(DownlinkTest, FeedbackOnPacketsThatWereNotSentChangesNothing) {
  Begin();
  Run(5, 2'000'000, 1'000'000);
  const int64_t before_bps = downlink_->target_bps();
  std::vector<weir_packet_feedback> hostile;
  for (int i = 0; i < 60'000; i += 7) {
    hostile.push_back({INT64_MAX / 4 - i, static_cast<uint16_t>(i), WEIR_PACKET_RECEIVED, 0});
  }
  downlink_->OnFeedback(hostile, now_us_);
  Update();
  EXPECT_LE(downlink_->target_bps(), before_bps * 11 / 10);
}

}  // namespace
}  // namespace weir::mediasoup
