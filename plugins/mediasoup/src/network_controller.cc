#include "weir/network_controller.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "weir/downlink.h"
#include "weir/settings.h"

namespace weir::mediasoup {
namespace {

using webrtc::NetworkControllerInterface;
using webrtc::NetworkControlUpdate;

// Added to the identifiers of Weir's probe clusters; those of the other controller begin at 1.
constexpr int32_t kFirstCluster = 1'000'000;

int64_t Bps(const absl::optional<webrtc::DataRate>& rate) { return rate && rate->IsFinite() ? rate->bps() : 0; }

Constraints From(const webrtc::TargetRateConstraints& constraints) {
  return {Bps(constraints.min_data_rate), Bps(constraints.starting_rate), Bps(constraints.max_data_rate)};
}

class NetworkController final : public NetworkControllerInterface {
 public:
  NetworkController(const Settings& settings, std::unique_ptr<NetworkControllerInterface> other,
                    const std::string& connection, const webrtc::NetworkControllerConfig& config)
      : other_(std::move(other)), downlink_(settings, connection, From(config.constraints)) {}

  NetworkControlUpdate OnNetworkAvailability(webrtc::NetworkAvailability message) override {
    return Choose(other_->OnNetworkAvailability(message), message.at_time);
  }
  NetworkControlUpdate OnNetworkRouteChange(webrtc::NetworkRouteChange message) override {
    return Choose(other_->OnNetworkRouteChange(message), message.at_time);
  }
  NetworkControlUpdate OnProcessInterval(webrtc::ProcessInterval message) override {
    return Choose(other_->OnProcessInterval(message), message.at_time);
  }
  NetworkControlUpdate OnRemoteBitrateReport(webrtc::RemoteBitrateReport message) override {
    return Choose(other_->OnRemoteBitrateReport(message), message.receive_time);
  }
  NetworkControlUpdate OnRoundTripTimeUpdate(webrtc::RoundTripTimeUpdate message) override {
    downlink_.OnRoundTripTime(message.round_trip_time.us(), message.receive_time.us());
    return Choose(other_->OnRoundTripTimeUpdate(message), message.receive_time);
  }
  NetworkControlUpdate OnSentPacket(webrtc::SentPacket message) override {
    const int32_t cluster = message.pacing_info.probe_cluster_id - kFirstCluster;
    downlink_.OnSentPacket(static_cast<uint16_t>(message.sequence_number), message.send_time.us(),
                           static_cast<uint32_t>(message.size.bytes()), cluster > 0 ? cluster : 0);
    return Choose(other_->OnSentPacket(message), message.send_time);
  }
  NetworkControlUpdate OnStreamsConfig(webrtc::StreamsConfig message) override {
    downlink_.SetDesiredRate(Bps(message.max_total_allocated_bitrate));
    return Choose(other_->OnStreamsConfig(message), message.at_time);
  }
  // mediasoup ignores the update. Its start rate is the target in force: no new beginning for Weir, and none for the
  // other controller if that target is Weir's.
  NetworkControlUpdate OnTargetRateConstraints(webrtc::TargetRateConstraints message) override {
    downlink_.SetConstraints(From(message), message.at_time.us());
    if (is_weir_in_charge_) message.starting_rate.reset();
    return other_->OnTargetRateConstraints(message);
  }
  NetworkControlUpdate OnTransportLossReport(webrtc::TransportLossReport message) override {
    return Choose(other_->OnTransportLossReport(message), message.receive_time);
  }
  NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback message) override {
    packets_.clear();
    for (const webrtc::PacketResult& result : message.packet_feedbacks) {
      weir_packet_feedback packet{};
      packet.sequence_number = static_cast<uint16_t>(result.sent_packet.sequence_number);
      packet.fate = result.receive_time.IsFinite() ? WEIR_PACKET_RECEIVED : WEIR_PACKET_LOST;
      packet.receive_time_us = result.receive_time.IsFinite() ? result.receive_time.us() : 0;
      packets_.push_back(packet);
    }
    downlink_.OnFeedback(packets_, message.feedback_time.us());
    return Choose(other_->OnTransportPacketsFeedback(message), message.feedback_time);
  }
  NetworkControlUpdate OnNetworkStateEstimate(webrtc::NetworkStateEstimate message) override {
    return other_->OnNetworkStateEstimate(message);
  }

 private:
  // Returns the update of the controller that is in charge: while that is the other one, its own update, unchanged.
  NetworkControlUpdate Choose(NetworkControlUpdate of_other, webrtc::Timestamp now) {
    if (of_other.target_rate) other_target_ = of_other.target_rate;
    std::optional<int64_t> other_bps;
    if (other_target_) other_bps = other_target_->target_rate.bps();
    const bool is_weir = downlink_.Update(other_bps, now.us());
    const bool changed = std::exchange(is_weir_in_charge_, is_weir) != is_weir;
    if (!is_weir) {
      if (changed) of_other.target_rate = other_target_;
      return of_other;
    }
    NetworkControlUpdate update;
    const int64_t target_bps = downlink_.target_bps();
    if (std::exchange(announced_bps_, target_bps) != target_bps || changed) {
      webrtc::TargetTransferRate target;
      target.at_time = now;
      target.target_rate = webrtc::DataRate::bps(target_bps);
      update.target_rate = target;
    }
    if (const weir_probe_cluster cluster = downlink_.TakeProbeCluster(); cluster.id != 0) {
      webrtc::ProbeClusterConfig config;
      config.at_time = now;
      config.target_data_rate = webrtc::DataRate::bps(cluster.target_data_rate_bps);
      config.target_duration = webrtc::TimeDelta::us(cluster.target_duration_us);
      config.target_probe_count = cluster.target_probe_count;
      config.id = kFirstCluster + cluster.id;
      update.probe_cluster_configs.push_back(config);
    }
    return update;
  }

  const std::unique_ptr<NetworkControllerInterface> other_;
  Downlink downlink_;
  absl::optional<webrtc::TargetTransferRate> other_target_;
  int64_t announced_bps_ = 0;
  bool is_weir_in_charge_ = false;
  // Scratch space for one message.
  std::vector<weir_packet_feedback> packets_;
};

class Factory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  Factory(const Settings& settings, webrtc::NetworkControllerFactoryInterface* other, std::string connection)
      : settings_(settings), other_(other), connection_(std::move(connection)) {}

  std::unique_ptr<NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<NetworkController>(settings_, other_->Create(config), connection_, config);
  }
  webrtc::TimeDelta GetProcessInterval() const override { return other_->GetProcessInterval(); }

 private:
  const Settings& settings_;
  const std::unique_ptr<webrtc::NetworkControllerFactoryInterface> other_;
  const std::string connection_;
};

}  // namespace

webrtc::NetworkControllerFactoryInterface* InsteadOf(webrtc::NetworkControllerFactoryInterface* other,
                                                     RTC::BweType bwe_type, const std::string& connection) {
  const Settings* const settings = ProcessSettings();
  if (settings == nullptr || bwe_type != RTC::BweType::TRANSPORT_CC) return other;
  return new Factory(*settings, other, connection);
}

}  // namespace weir::mediasoup
