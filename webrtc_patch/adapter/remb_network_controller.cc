#include "remb_network_controller.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weir {
namespace {

using webrtc::DataRate;
using webrtc::NetworkControlUpdate;
using webrtc::TimeDelta;
using webrtc::Timestamp;

constexpr TimeDelta kProcessInterval = TimeDelta::Millis(25);
constexpr double kPacingFactor = 1.5;
// libwebrtc's pacer only uses the quotients of data and time.
constexpr TimeDelta kPacerWindow = TimeDelta::Seconds(1);
constexpr DataRate kDefaultMinRate = DataRate::KilobitsPerSec(30);
constexpr DataRate kDefaultStartRate = DataRate::KilobitsPerSec(300);

constexpr uint64_t kMinLossPackets = 20;
constexpr double kHighLoss = 0.10;
constexpr double kLowLoss = 0.02;
constexpr double kLossRecovery = 1.5;
// On a path that always loses some: what libwebrtc's own limit grows by in a second without loss.
constexpr double kSlowLossRecovery = 1.08;
constexpr TimeDelta kMinLossInterval = TimeDelta::Millis(300);

constexpr TimeDelta kFeedbackTimeout = TimeDelta::Seconds(3);
constexpr TimeDelta kTimeoutInterval = TimeDelta::Seconds(1);
constexpr double kTimeoutFactor = 0.5;

class RembNetworkController final : public webrtc::NetworkControllerInterface {
 public:
  RembNetworkController(const webrtc::NetworkControllerConfig& config, const RembNetworkControllerOptions& options)
      : options_(options), streams_(config.stream_based_config) {
    SetConstraints(config.constraints);
    start_rate_ = config.constraints.starting_rate.value_or(kDefaultStartRate);
  }

  NetworkControlUpdate OnNetworkAvailability(webrtc::NetworkAvailability message) override {
    available_ = message.network_available;
    // Silence counts from when something could be said.
    Heard(message.at_time);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnNetworkRouteChange(webrtc::NetworkRouteChange message) override {
    SetConstraints(message.constraints);
    if (message.constraints.starting_rate) start_rate_ = *message.constraints.starting_rate;
    // What the receiver said, and what was lost, was of another path.
    remb_.reset();
    loss_limit_.reset();
    lost_packets_ = received_packets_ = 0;
    Heard(message.at_time);
    return Update(message.at_time);
  }

  NetworkControlUpdate OnProcessInterval(webrtc::ProcessInterval message) override {
    if (available_ && sent_since_heard_ && last_heard_ && message.at_time - *last_heard_ >= kFeedbackTimeout) {
      if (!last_cut_ || message.at_time - *last_cut_ >= kTimeoutInterval) {
        timeout_limit_ = std::max(Target().rate * kTimeoutFactor, min_rate_);
        last_cut_ = message.at_time;
      }
    }
    return Update(message.at_time);
  }

  NetworkControlUpdate OnRemoteBitrateReport(webrtc::RemoteBitrateReport message) override {
    Heard(message.receive_time);
    // 0 means "no limit" where REMB comes from a receiver without an opinion.
    if (message.bandwidth.IsFinite() && message.bandwidth > DataRate::Zero()) remb_ = message.bandwidth;
    return Update(message.receive_time);
  }

  NetworkControlUpdate OnRoundTripTimeUpdate(webrtc::RoundTripTimeUpdate message) override {
    if (message.round_trip_time.IsFinite() && message.round_trip_time > TimeDelta::Zero()) {
      round_trip_time_ = message.round_trip_time;
    }
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
    const auto keep = [](auto& value, const auto& update) {
      if (update) value = update;
    };
    keep(streams_.pacing_factor, message.pacing_factor);
    keep(streams_.min_total_allocated_bitrate, message.min_total_allocated_bitrate);
    keep(streams_.max_padding_rate, message.max_padding_rate);
    announced_rate_.reset();
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTargetRateConstraints(webrtc::TargetRateConstraints message) override {
    SetConstraints(message);
    if (message.starting_rate) start_rate_ = *message.starting_rate;
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTransportLossReport(webrtc::TransportLossReport message) override {
    Heard(message.receive_time);
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
    Heard(message.feedback_time);
    return Update(message.feedback_time);
  }

  NetworkControlUpdate OnNetworkStateEstimate(webrtc::NetworkStateEstimate) override { return NetworkControlUpdate(); }

 private:
  struct TargetRate {
    DataRate rate;
    RembTargetReason reason;
  };

  void SetConstraints(const webrtc::TargetRateConstraints& constraints) {
    const DataRate min_rate = constraints.min_data_rate.value_or(DataRate::Zero());
    const DataRate max_rate = constraints.max_data_rate.value_or(DataRate::PlusInfinity());
    min_rate_ = min_rate.IsFinite() && !min_rate.IsZero() ? min_rate : kDefaultMinRate;
    max_rate_ = std::max(max_rate, min_rate_);
  }

  void Heard(Timestamp now) {
    if (now.IsFinite()) last_heard_ = now;
    sent_since_heard_ = false;
    timeout_limit_.reset();
    last_cut_.reset();
  }

  void OnLossRatio(Timestamp now) {
    if (loss_ratio_ > kHighLoss) {
      if (last_loss_cut_ && now - *last_loss_cut_ < kMinLossInterval + round_trip_time_) return;
      last_loss_cut_ = now;
      loss_limit_ = Target().rate * (1.0 - 0.5 * loss_ratio_);
    } else if (loss_limit_) {
      loss_limit_ = *loss_limit_ * (loss_ratio_ < kLowLoss ? kLossRecovery : kSlowLossRecovery);
    }
  }

  TargetRate Target() {
    TargetRate target{remb_.value_or(start_rate_), remb_ ? RembTargetReason::kRemb : RembTargetReason::kStart};
    // A limit that limits no more has done its work; REMB may rise freely again.
    if (loss_limit_ && *loss_limit_ >= target.rate) loss_limit_.reset();
    if (loss_limit_) target = {*loss_limit_, RembTargetReason::kLoss};
    if (timeout_limit_ && *timeout_limit_ < target.rate) target = {*timeout_limit_, RembTargetReason::kTimeout};
    const DataRate bounded = std::clamp(target.rate, min_rate_, max_rate_);
    if (bounded != target.rate) target = {bounded, RembTargetReason::kBounds};
    return target;
  }

  NetworkControlUpdate Update(Timestamp now) {
    NetworkControlUpdate update;
    if (!now.IsFinite()) return update;
    const TargetRate target = Target();
    if (announced_rate_ == target.rate) return update;
    announced_rate_ = target.rate;

    webrtc::TargetTransferRate transfer_rate;
    transfer_rate.at_time = now;
    transfer_rate.target_rate = target.rate;
    transfer_rate.stable_target_rate = target.rate;
    transfer_rate.network_estimate.at_time = now;
    transfer_rate.network_estimate.bandwidth = target.rate;
    transfer_rate.network_estimate.loss_rate_ratio = static_cast<float>(loss_ratio_);
    transfer_rate.network_estimate.round_trip_time = round_trip_time_;
    // Over which the encoder may average; the shorter, the sooner it follows.
    transfer_rate.network_estimate.bwe_period = TimeDelta::Seconds(1);
    update.target_rate = transfer_rate;
    update.pacer_config = Pacer(target.rate, now);
    if (options_.on_target_rate) options_.on_target_rate(now, target.rate, target.reason);
    return update;
  }

  webrtc::PacerConfig Pacer(DataRate target, Timestamp now) const {
    const double factor =
        streams_.pacing_factor && *streams_.pacing_factor >= 1.0 ? *streams_.pacing_factor : kPacingFactor;
    const DataRate floor = streams_.min_total_allocated_bitrate.value_or(DataRate::Zero());
    const DataRate padding = std::min(streams_.max_padding_rate.value_or(DataRate::Zero()), target);
    webrtc::PacerConfig pacer;
    pacer.at_time = now;
    pacer.time_window = kPacerWindow;
    pacer.data_window = std::max(target * factor, floor) * kPacerWindow;
    pacer.pad_window = padding * kPacerWindow;
    return pacer;
  }

  const RembNetworkControllerOptions options_;
  webrtc::StreamsConfig streams_;
  DataRate min_rate_ = kDefaultMinRate;
  DataRate max_rate_ = DataRate::PlusInfinity();
  DataRate start_rate_ = kDefaultStartRate;
  TimeDelta round_trip_time_ = TimeDelta::Millis(100);
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

  std::optional<DataRate> announced_rate_;
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
