#include "sender/remb_network_controller.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sender/target_announcement.h"

namespace weir {
namespace {

using webrtc::DataRate;
using webrtc::NetworkControlUpdate;
using webrtc::TimeDelta;
using webrtc::Timestamp;

constexpr TimeDelta kProcessInterval = TimeDelta::Millis(25);
constexpr double kPacingFactor = 1.5;

constexpr uint64_t kMinLossPackets = 20;
constexpr double kHighLoss = 0.10;
constexpr double kLowLoss = 0.02;
constexpr double kLossRecovery = 1.5;
// For paths that always lose some packets: the growth of libwebrtc's own limit in a second without loss.
constexpr double kSlowLossRecovery = 1.08;
constexpr TimeDelta kMinLossInterval = TimeDelta::Millis(300);

constexpr TimeDelta kFeedbackTimeout = TimeDelta::Seconds(3);
constexpr TimeDelta kTimeoutInterval = TimeDelta::Seconds(1);
constexpr double kTimeoutFactor = 0.5;

class RembNetworkController final : public webrtc::NetworkControllerInterface {
 public:
  RembNetworkController(const webrtc::NetworkControllerConfig& config, const RembNetworkControllerOptions& options)
      : options_(options), announcement_(config, kPacingFactor, TimeDelta::Zero()) {}

  NetworkControlUpdate OnNetworkAvailability(webrtc::NetworkAvailability message) override {
    available_ = message.network_available;
    // The feedback timeout starts when feedback becomes possible.
    OnFeedback(message.at_time);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnNetworkRouteChange(webrtc::NetworkRouteChange message) override {
    announcement_.SetConstraints(message.constraints);
    // The last REMB and losses are from another path.
    remb_.reset();
    loss_limit_.reset();
    lost_packets_ = received_packets_ = 0;
    OnFeedback(message.at_time);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnProcessInterval(webrtc::ProcessInterval message) override {
    if (available_ && sent_since_heard_ && last_heard_ && message.at_time - *last_heard_ >= kFeedbackTimeout) {
      if (!last_cut_ || message.at_time - *last_cut_ >= kTimeoutInterval) {
        timeout_limit_ = std::max(Target().rate * kTimeoutFactor, announcement_.min_rate());
        last_cut_ = message.at_time;
      }
    }
    return Update(message.at_time);
  }

  NetworkControlUpdate OnRemoteBitrateReport(webrtc::RemoteBitrateReport message) override {
    OnFeedback(message.receive_time);
    // A receiver without an estimate sends 0 for "no limit".
    if (message.bandwidth.IsFinite() && message.bandwidth > DataRate::Zero()) remb_ = message.bandwidth;
    return Update(message.receive_time);
  }

  NetworkControlUpdate OnRoundTripTimeUpdate(webrtc::RoundTripTimeUpdate message) override {
    announcement_.SetRoundTripTime(message.round_trip_time);
    return NetworkControlUpdate();
  }

  NetworkControlUpdate OnSentPacket(webrtc::SentPacket message) override {
    // The first packet starts the wait for feedback.
    if (!last_heard_ && message.send_time.IsFinite()) last_heard_ = message.send_time;
    sent_since_heard_ = true;
    return NetworkControlUpdate();
  }

  NetworkControlUpdate OnReceivedPacket(webrtc::ReceivedPacket) override { return NetworkControlUpdate(); }

  NetworkControlUpdate OnStreamsConfig(webrtc::StreamsConfig message) override {
    announcement_.SetStreams(message);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTargetRateConstraints(webrtc::TargetRateConstraints message) override {
    announcement_.SetConstraints(message);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTransportLossReport(webrtc::TransportLossReport message) override {
    OnFeedback(message.receive_time);
    lost_packets_ += message.packets_lost_delta;
    received_packets_ += message.packets_received_delta;
    const uint64_t packets = lost_packets_ + received_packets_;
    if (packets < kMinLossPackets) return Update(message.receive_time);
    loss_ratio_ = static_cast<double>(lost_packets_) / static_cast<double>(packets);
    lost_packets_ = received_packets_ = 0;
    OnLossRatio(message.receive_time);
    return Update(message.receive_time);
  }

  NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback message) override {
    OnFeedback(message.feedback_time);
    return Update(message.feedback_time);
  }

  NetworkControlUpdate OnNetworkStateEstimate(webrtc::NetworkStateEstimate) override { return NetworkControlUpdate(); }

 private:
  struct TargetRate {
    DataRate rate;
    RembTargetReason reason;
  };

  void OnFeedback(Timestamp now) {
    if (now.IsFinite()) last_heard_ = now;
    sent_since_heard_ = false;
    timeout_limit_.reset();
    last_cut_.reset();
  }

  void OnLossRatio(Timestamp now) {
    if (loss_ratio_ > kHighLoss) {
      if (last_loss_cut_ && now - *last_loss_cut_ < kMinLossInterval + announcement_.round_trip_time()) return;
      last_loss_cut_ = now;
      loss_limit_ = Target().rate * (1.0 - 0.5 * loss_ratio_);
    } else if (loss_limit_) {
      loss_limit_ = *loss_limit_ * (loss_ratio_ < kLowLoss ? kLossRecovery : kSlowLossRecovery);
    }
  }

  TargetRate Target() {
    TargetRate target{remb_.value_or(announcement_.start_rate()),
                      remb_ ? RembTargetReason::kRemb : RembTargetReason::kStart};
    // Removes a loss limit that no longer limits, so that REMB may rise freely again.
    if (loss_limit_ && *loss_limit_ >= target.rate) loss_limit_.reset();
    if (loss_limit_) target = {*loss_limit_, RembTargetReason::kLoss};
    if (timeout_limit_ && *timeout_limit_ < target.rate) target = {*timeout_limit_, RembTargetReason::kTimeout};
    const DataRate bounded = std::clamp(target.rate, announcement_.min_rate(), announcement_.max_rate());
    if (bounded != target.rate) target = {bounded, RembTargetReason::kBounds};
    return target;
  }

  NetworkControlUpdate Update(Timestamp now) {
    const TargetRate target = Target();
    NetworkControlUpdate update = announcement_.Announce(target.rate, loss_ratio_, now);
    if (update.target_rate && options_.on_target_rate) options_.on_target_rate(now, target.rate, target.reason);
    return update;
  }

  const RembNetworkControllerOptions options_;
  adapter::TargetAnnouncement announcement_;
  bool available_ = true;

  std::optional<DataRate> remb_;

  uint64_t lost_packets_ = 0;
  uint64_t received_packets_ = 0;
  double loss_ratio_ = 0;
  std::optional<DataRate> loss_limit_;
  std::optional<Timestamp> last_loss_cut_;

  std::optional<Timestamp> last_heard_;
  bool sent_since_heard_ = false;
  std::optional<DataRate> timeout_limit_;
  std::optional<Timestamp> last_cut_;
};

class RembNetworkControllerFactory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  explicit RembNetworkControllerFactory(RembNetworkControllerOptions options) : options_(std::move(options)) {}

  std::unique_ptr<webrtc::NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<RembNetworkController>(config, options_);
  }
  TimeDelta GetProcessInterval() const override { return kProcessInterval; }

 private:
  const RembNetworkControllerOptions options_;
};

}  // namespace

std::string_view ToString(RembTargetReason reason) {
  constexpr std::array<std::string_view, 5> kNames{"start", "remb", "loss", "timeout", "bounds"};
  const auto index = static_cast<size_t>(reason);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::unique_ptr<webrtc::NetworkControllerFactoryInterface> MakeRembNetworkControllerFactory(
    RembNetworkControllerOptions options) {
  return std::make_unique<RembNetworkControllerFactory>(std::move(options));
}

}  // namespace weir
