// The patch changes libwebrtc as it should, and nothing else.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "api/environment/environment_factory.h"
#include "call/call.h"
#include "call/call_config.h"
#include "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"
#include "receive_side_call.h"
#include "rtc_base/thread.h"

namespace weir {
namespace {

using testing::ReceiveSideCall;

// Counts what reaches it, and announces one rate at every packet.
struct Seen {
  int created = 0;
  int packets = 0;
  int processed = 0;
  int removed = 0;
  int rtt_updates = 0;
};

class CountingEstimator final : public webrtc::RemoteBitrateEstimatorFromFactory {
 public:
  CountingEstimator(Seen& seen, webrtc::RemoteBitrateObserver* observer) : seen_(seen), observer_(observer) {}
  void IncomingPacket(const webrtc::RtpPacketReceived& packet) override {
    ++seen_.packets;
    observer_->OnReceiveBitrateChanged({packet.Ssrc()}, 123'456);
  }
  void RemoveStream(uint32_t) override { ++seen_.removed; }
  webrtc::DataRate LatestEstimate() const override { return webrtc::DataRate::BitsPerSec(123'456); }
  webrtc::TimeDelta Process() override {
    ++seen_.processed;
    return webrtc::TimeDelta::Millis(70);
  }
  void OnRttUpdate(int64_t, int64_t) override { ++seen_.rtt_updates; }

 private:
  Seen& seen_;
  webrtc::RemoteBitrateObserver* const observer_;
};

class CountingFactory final : public webrtc::RemoteBitrateEstimatorFactory {
 public:
  CountingFactory(Seen& seen, bool wants_all, bool declines = false)
      : seen_(seen), wants_all_(wants_all), declines_(declines) {}
  std::unique_ptr<webrtc::RemoteBitrateEstimatorFromFactory> Create(
      const webrtc::Environment&, webrtc::RemoteBitrateObserver* observer,
      webrtc::RtpTransportFeedbackGenerator::RtcpSender) override {
    ++seen_.created;
    return declines_ ? nullptr : std::make_unique<CountingEstimator>(seen_, observer);
  }
  bool WantsTransportSequenceNumbers() const override { return wants_all_; }

 private:
  Seen& seen_;
  const bool wants_all_;
  const bool declines_;
};

class PatchedController : public ::testing::Test {
 protected:
  ~PatchedController() override { webrtc::SetRemoteBitrateEstimatorFactory(nullptr); }

  void Set(bool wants_all, bool declines = false) {
    webrtc::SetRemoteBitrateEstimatorFactory(std::make_shared<CountingFactory>(seen_, wants_all, declines));
  }

  Seen seen_;
};

TEST_F(PatchedController, AsksTheFactoryOnceACall) {
  Set(false);
  ReceiveSideCall call;
  EXPECT_EQ(seen_.created, 1);
  call.Run(1000, 400'000);
  EXPECT_EQ(seen_.created, 1);
  EXPECT_NEAR(seen_.packets, 48, 1);
  // As often as it wants; the reports to the sender have a timer of their own.
  EXPECT_GE(seen_.processed, 14);
  call.controller().OnRttUpdate(50, 60);
  call.controller().RemoveStream(testing::kSsrc);
  EXPECT_EQ(seen_.rtt_updates, 1);
  EXPECT_EQ(seen_.removed, 1);
  EXPECT_EQ(call.controller().LatestReceiveSideEstimate().bps(), 123'456);
}

TEST_F(PatchedController, SendsItsEstimateThroughTheThrottler) {
  Set(false);
  ReceiveSideCall call;
  call.Run(1000, 400'000);
  ASSERT_GE(call.rembs().size(), 4u);
  EXPECT_LE(call.rembs().size(), 6u);
  EXPECT_EQ(call.rembs()[0].bitrate_bps, 123'456);
  EXPECT_EQ(call.rembs()[0].ssrcs, std::vector<uint32_t>{testing::kSsrc});
}

TEST_F(PatchedController, KeepsItsEstimatorWhenSendTimesComeAndGo) {
  Set(false);
  ReceiveSideCall call;
  for (const bool has_absolute_send_time : {false, true, false, true}) {
    call.fields().has_abs_send_time = has_absolute_send_time;
    for (int i = 0; i < 50; ++i) call.Receive(1000, 0);
  }
  EXPECT_EQ(seen_.packets, 200);
}

TEST_F(PatchedController, ShowsPacketsWithATransportSequenceNumberOnlyWhenAsked) {
  for (const bool wants_all : {false, true}) {
    seen_ = {};
    Set(wants_all);
    ReceiveSideCall call;
    call.fields().has_transport_sequence_number = true;
    call.Run(1000, 400'000);
    if (wants_all) {
      EXPECT_NEAR(seen_.packets, 48, 1);
    } else {
      EXPECT_EQ(seen_.packets, 0);
    }
    // The sender still gets feedback on them.
    EXPECT_GE(call.transport_feedbacks(), 5);
  }
}

// An unpatched controller does this, see libwebrtc's own unit test.
void ExpectLibwebrtcsOwn() {
  ReceiveSideCall call;
  call.Run(20'000, 400'000);
  EXPECT_FALSE(call.rembs().empty());
  const int64_t estimate = call.controller().LatestReceiveSideEstimate().bps();
  EXPECT_GT(estimate, 300'000);
  EXPECT_LT(estimate, 900'000);

  ReceiveSideCall reported;
  reported.fields().has_transport_sequence_number = true;
  reported.Run(2000, 400'000);
  EXPECT_TRUE(reported.rembs().empty());
  EXPECT_GT(reported.transport_feedbacks(), 5);
}

TEST_F(PatchedController, IsLibwebrtcsOwnWithoutAFactory) { ExpectLibwebrtcsOwn(); }

TEST_F(PatchedController, IsLibwebrtcsOwnWhenTheFactoryDeclines) {
  Set(true, /*declines=*/true);
  ExpectLibwebrtcsOwn();
  EXPECT_EQ(seen_.created, 2);
  EXPECT_EQ(seen_.packets, 0);
}

TEST_F(PatchedController, LetsRunningCallsKeepTheirEstimator) {
  Set(false);
  std::optional<ReceiveSideCall> call(std::in_place);
  webrtc::SetRemoteBitrateEstimatorFactory(nullptr);
  call->Run(1000, 400'000);
  EXPECT_GT(seen_.packets, 40);
  ReceiveSideCall next;
  EXPECT_EQ(seen_.created, 1);
}

TEST_F(PatchedController, ServesARealCall) {
  Set(false);
  const std::unique_ptr<webrtc::Thread> thread = webrtc::Thread::Create();
  ASSERT_TRUE(thread->Start());
  std::unique_ptr<webrtc::Call> call;
  thread->BlockingCall([&call] { call = webrtc::Call::Create(webrtc::CallConfig(webrtc::CreateEnvironment())); });
  EXPECT_EQ(seen_.created, 1);
  // The call's own timer.
  while (thread->BlockingCall([this] { return seen_.processed; }) == 0) std::this_thread::yield();
  EXPECT_EQ(thread->BlockingCall([&call] { return call->GetStats().recv_bandwidth_bps; }), 123'456);
  thread->BlockingCall([&call] { call = nullptr; });
}

}  // namespace
}  // namespace weir
