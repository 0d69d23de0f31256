#include "switched_remote_bitrate_estimator.h"

#include <algorithm>
#include <utility>

#include "modules/remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.h"
#include "modules/remote_bitrate_estimator/remote_bitrate_estimator_single_stream.h"
#include "modules/rtp_rtcp/source/rtp_header_extensions.h"
#include "modules/rtp_rtcp/source/rtp_packet_received.h"

namespace weir::adapter {
namespace {

constexpr webrtc::TimeDelta kMaxProcessInterval = webrtc::TimeDelta::Millis(100);
constexpr int kPacketsToGiveUp = 30;

// libwebrtc's own receiver-side estimator, as in an unpatched call. It switches to absolute send time with the first
// packet that has it, and back to transmission time offset after 30 packets without, like
// ReceiveSideCongestionController, whose rule is private.
class LibwebrtcRembEstimator final : public webrtc::RemoteBitrateEstimator {
 public:
  // `observer` must outlive this.
  LibwebrtcRembEstimator(webrtc::RemoteBitrateObserver* observer, const webrtc::Environment& environment)
      : observer_(observer),
        environment_(environment),
        estimator_(std::make_unique<webrtc::RemoteBitrateEstimatorSingleStream>(environment, observer)) {}

  void IncomingPacket(const webrtc::RtpPacketReceived& packet) override {
    Pick(packet.HasExtension<webrtc::AbsoluteSendTime>());
    estimator_->IncomingPacket(packet);
  }
  void RemoveStream(uint32_t ssrc) override { estimator_->RemoveStream(ssrc); }
  webrtc::DataRate LatestEstimate() const override { return estimator_->LatestEstimate(); }
  webrtc::TimeDelta Process() override { return estimator_->Process(); }
  void OnRttUpdate(int64_t avg_rtt_ms, int64_t max_rtt_ms) override { estimator_->OnRttUpdate(avg_rtt_ms, max_rtt_ms); }

 private:
  void Pick(bool has_absolute_send_time) {
    packets_without_ = has_absolute_send_time ? 0 : std::min(packets_without_ + 1, kPacketsToGiveUp);
    if (has_absolute_send_time && !uses_absolute_send_time_) {
      uses_absolute_send_time_ = true;
      estimator_ = std::make_unique<webrtc::RemoteBitrateEstimatorAbsSendTime>(environment_, observer_);
    } else if (uses_absolute_send_time_ && packets_without_ >= kPacketsToGiveUp) {
      uses_absolute_send_time_ = false;
      estimator_ = std::make_unique<webrtc::RemoteBitrateEstimatorSingleStream>(environment_, observer_);
    }
  }

  webrtc::RemoteBitrateObserver* const observer_;
  const webrtc::Environment environment_;
  std::unique_ptr<webrtc::RemoteBitrateEstimator> estimator_;
  bool uses_absolute_send_time_ = false;
  int packets_without_ = 0;
};

}  // namespace

SwitchedRemoteBitrateEstimator::SwitchedRemoteBitrateEstimator(
    std::shared_ptr<const SharedReceiveSideSettings> settings, webrtc::RemoteBitrateObserver* throttler,
    RembOutlet::RtcpSender rtcp_sender, const webrtc::Environment& environment)
    : shared_settings_(std::move(settings)),
      environment_(environment),
      clock_(&environment_.clock()),
      outlet_(throttler, std::move(rtcp_sender), !shared_settings_->Get().sender_decides_too, clock_) {
  // Earlier RepeatRemb() were for other calls.
  repeats_ = shared_settings_->Get().repeats;
  FollowSettings();
}

void SwitchedRemoteBitrateEstimator::FollowSettings() {
  // Read before the settings, so that a change in between is applied next time.
  const uint64_t version = shared_settings_->version();
  if (version == version_) return;
  version_ = version;
  const ReceiveSideSettings settings = shared_settings_->Get();
  if (settings.mode != mode_) SwitchTo(settings);
  if (weir_) {
    weir_->ApplySettings(settings);
    if (settings.repeats != repeats_) weir_->RepeatRemb();
  }
  repeats_ = settings.repeats;
}

void SwitchedRemoteBitrateEstimator::SwitchTo(const ReceiveSideSettings& settings) {
  mode_ = settings.mode;
  const bool wants_gcc = settings.mode != ReceiveSideMode::kWeir;
  const bool wants_weir = settings.mode != ReceiveSideMode::kGcc;
  if (wants_weir && !weir_) {
    // Continues from GCC's estimate, if it has one.
    const webrtc::DataRate announced = gcc_ ? gcc_->LatestEstimate() : webrtc::DataRate::Zero();
    const DataRate start_rate =
        announced.IsZero() ? settings.constraints.start_rate : DataRate::BitsPerSecond(announced.bps());
    weir_ = std::make_unique<WeirRemoteBitrateEstimator>(settings, start_rate, &outlet_, clock_);
  }
  if (!wants_weir && weir_) {
    weir_->SetInCharge(false);
    weir_ = nullptr;
  }
  if (!wants_gcc) gcc_ = nullptr;
  if (wants_gcc && !gcc_) {
    gcc_ = std::make_unique<LibwebrtcRembEstimator>(&outlet_, environment_);
    next_gcc_process_ = webrtc::Timestamp::MinusInfinity();
  }
  if (weir_) weir_->SetInCharge(settings.mode == ReceiveSideMode::kWeir);
}

void SwitchedRemoteBitrateEstimator::IncomingPacket(const webrtc::RtpPacketReceived& packet) {
  FollowSettings();
  const bool reported = IsReported(packet);
  outlet_.SetSenderHasGcc(reported);
  // As in libwebrtc, its estimator never receives packets that are reported to the sender.
  if (gcc_ && !reported) gcc_->IncomingPacket(packet);
  if (weir_) weir_->IncomingPacket(packet);
}

void SwitchedRemoteBitrateEstimator::RemoveStream(uint32_t ssrc) {
  if (gcc_) gcc_->RemoveStream(ssrc);
  if (weir_) weir_->RemoveStream(ssrc);
}

webrtc::DataRate SwitchedRemoteBitrateEstimator::LatestEstimate() const {
  return gcc_ ? gcc_->LatestEstimate() : weir_->LatestEstimate();
}

webrtc::TimeDelta SwitchedRemoteBitrateEstimator::Process() {
  FollowSettings();
  webrtc::TimeDelta wait = kMaxProcessInterval;
  if (weir_) wait = std::min(wait, weir_->Process());
  if (gcc_) {
    // No more often than it requests, because each call does work.
    const webrtc::Timestamp now = clock_->CurrentTime();
    if (next_gcc_process_ <= now) next_gcc_process_ = now + gcc_->Process();
    wait = std::min(wait, next_gcc_process_ - now);
  }
  return std::max(wait, webrtc::TimeDelta::Millis(1));
}

void SwitchedRemoteBitrateEstimator::OnRttUpdate(int64_t avg_rtt_ms, int64_t max_rtt_ms) {
  if (gcc_) gcc_->OnRttUpdate(avg_rtt_ms, max_rtt_ms);
  if (weir_) weir_->OnRttUpdate(avg_rtt_ms, max_rtt_ms);
}

FeedbackWithoutLosses::Messages SwitchedRemoteBitrateEstimator::OnTransportFeedback(
    FeedbackWithoutLosses::Messages feedback) {
  return feedback_.Filter(std::move(feedback), weir_ && weir_->OmitsLosses());
}

}  // namespace weir::adapter
