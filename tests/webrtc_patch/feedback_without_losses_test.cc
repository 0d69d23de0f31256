#include "feedback_without_losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/units/time_delta.h"
#include "api/units/timestamp.h"
#include "modules/rtp_rtcp/source/rtcp_packet/transport_feedback.h"
#include "receive_side_call.h"
#include "receive_side_switch.h"

namespace weir::adapter {
namespace {

using webrtc::TimeDelta;
using webrtc::Timestamp;
using webrtc::rtcp::TransportFeedback;

constexpr Timestamp kStart = Timestamp::Seconds(1000);
constexpr TimeDelta kGap = TimeDelta::Millis(7);

// Arrivals of these numbers, in one message from `base` on.
FeedbackWithoutLosses::Messages Feedback(uint16_t base, const std::vector<uint16_t>& received) {
  auto feedback = std::make_unique<TransportFeedback>();
  feedback->SetMediaSsrc(7);
  feedback->SetBase(base, kStart);
  for (const uint16_t number : received)
    EXPECT_TRUE(feedback->AddReceivedPacket(number, kStart + kGap * static_cast<uint16_t>(number - base)));
  FeedbackWithoutLosses::Messages messages;
  messages.push_back(std::move(feedback));
  return messages;
}

struct Reported {
  uint16_t number;
  TimeDelta since_start;
  friend bool operator==(const Reported&, const Reported&) = default;
};

// Arrivals of all messages as a sender reads them, and the losses between them. The number of each message is checked.
struct Read {
  std::vector<Reported> arrivals;
  int losses = 0;
};
Read ReadAll(const FeedbackWithoutLosses::Messages& messages, uint8_t first_number) {
  Read read;
  for (const auto& message : messages) {
    const auto bytes = message->Build();
    EXPECT_EQ(bytes[19], first_number++);
    const auto parsed = TransportFeedback::ParseFrom(bytes.data(), bytes.size());
    EXPECT_EQ(parsed->media_ssrc(), 7u);
    parsed->ForAllPackets([&](uint16_t number, TimeDelta since_base) {
      if (since_base.IsFinite()) {
        read.arrivals.push_back({number, parsed->GetBaseDelta(kStart) + since_base});
      } else {
        ++read.losses;
      }
    });
  }
  return read;
}

TEST(FeedbackWithoutLossesTest, EndsAMessageBeforeEachLoss) {
  FeedbackWithoutLosses feedback;
  const std::vector<uint16_t> received = {65534, 65535, 2, 3, 4, 9};
  const Read whole = ReadAll(feedback.Filter(Feedback(65533, received), false), 0);
  EXPECT_EQ(whole.losses, 1 + 2 + 4);
  auto messages = feedback.Filter(Feedback(65533, received), true);
  EXPECT_EQ(messages.size(), 3u);
  const Read split = ReadAll(messages, 1);
  EXPECT_EQ(split.losses, 0);
  EXPECT_EQ(split.arrivals, whole.arrivals);
  EXPECT_EQ(split.arrivals.size(), received.size());
  // Nothing is split where nothing is lost, and numbers go on.
  EXPECT_EQ(ReadAll(feedback.Filter(Feedback(10, {10, 11}), true), 4).arrivals.size(), 2u);
}

TEST(FeedbackWithoutLossesTest, KeepsFeedbackWithoutTimes) {
  auto feedback = std::make_unique<TransportFeedback>(/*include_timestamps=*/false);
  feedback->SetBase(1, kStart);
  ASSERT_TRUE(feedback->AddReceivedPacket(1, kStart));
  ASSERT_TRUE(feedback->AddReceivedPacket(3, kStart));
  FeedbackWithoutLosses::Messages messages;
  messages.push_back(std::move(feedback));
  messages = FeedbackWithoutLosses().Filter(std::move(messages), true);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(static_cast<const TransportFeedback&>(*messages[0]).GetPacketStatusCount(), 3u);
}

// A sender of 1 Mbps that follows REMB loses ten packets a second at any rate, for half a minute. Losses that feedback
// covers in the last five seconds.
int64_t ReportedLosses(ReceiveSideMode mode) {
  auto receive_side = ReceiveSideSwitch::Create({.mode = mode, .controller = RuleAlone()});
  receive_side.value()->Install();
  testing::ReceiveSideCall call;
  ReceiveSideSwitch::Uninstall();
  call.fields().has_transport_sequence_number = true;
  int64_t before = 0;
  constexpr int64_t kRateBps = 1'000'000;
  for (int second = 0; second < 30; ++second) {
    if (second == 25) before = call.reported_losses();
    for (int i = 0; i < 10; ++i) {
      call.Run(100, call.rembs().empty() ? kRateBps : std::min(kRateBps, call.rembs().back().bitrate_bps));
      call.Lose();
    }
  }
  EXPECT_EQ(call.most_feedbacks_in_a_packet(), 1) << "RTCPReceiver keeps the last of a compound packet";
  return call.reported_losses() - before;
}

TEST(FeedbackWithoutLossesTest, WeirInChargeOmitsWhatIsLostAtAnyRate) {
  EXPECT_EQ(ReportedLosses(ReceiveSideMode::kWeir), 0);
  EXPECT_NEAR(static_cast<double>(ReportedLosses(ReceiveSideMode::kGcc)), 50, 1);
  EXPECT_NEAR(static_cast<double>(ReportedLosses(ReceiveSideMode::kShadow)), 50, 1);
}

}  // namespace
}  // namespace weir::adapter
