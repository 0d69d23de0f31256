#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "api/environment/environment.h"
#include "api/environment/environment_factory.h"
#include "api/transport/goog_cc_factory.h"
#include "api/transport/network_control.h"
#include "conversions.h"
#include "virtual_call/downlink_estimator.h"

namespace weir::sim {
namespace {

constexpr DataRate kMinRate = DataRate::KilobitsPerSecond(30);
// mediasoup's maximum of the estimate over the desired rate, its smallest relative change, and the share of it that is
// announced as padding.
constexpr double kMaxOverDesired = 1.35;
constexpr double kMaxRateStep = 0.1;
constexpr double kPaddingShare = 0.85;
constexpr double kPacingFactor = 2.5;
constexpr webrtc::TimeDelta kProcessInterval = webrtc::TimeDelta::Millis(25);
// Feedback on packets that were sent earlier is ignored.
constexpr size_t kMaxSent = 8192;

class GccDownlinkEstimator final : public DownlinkEstimator {
 public:
  explicit GccDownlinkEstimator(webrtc::Clock* clock)
      : environment_([&] {
          webrtc::EnvironmentFactory factory;
          factory.Set(clock);
          return factory.Create();
        }()),
        clock_(clock) {
    webrtc::NetworkControllerConfig config(environment_);
    config.constraints = Constraints();
    config.constraints.starting_rate = adapter::ToWebrtc(kDownlinkStartRate);
    config.stream_based_config = Streams();
    controller_ = webrtc::GoogCcNetworkControllerFactory().Create(config);
    webrtc::NetworkAvailability available;
    available.at_time = clock_->CurrentTime();
    available.network_available = true;
    Apply(controller_->OnNetworkAvailability(available));
    Apply(controller_->OnStreamsConfig(Streams()));
    Process();
  }

  void OnSentPacket(const PacketDeparture& packet) override {
    webrtc::SentPacket sent;
    sent.send_time = clock_->CurrentTime();
    sent.size = adapter::ToWebrtc(packet.size);
    sent.sequence_number = packet.sequence_number;
    if (const auto found = clusters_.find(packet.probe_cluster_id); found != clusters_.end()) {
      sent.pacing_info = found->second;
      found->second.probe_cluster_bytes_sent += static_cast<int>(packet.size.bytes());
    }
    in_flight_ += sent.size;
    sent.data_in_flight = in_flight_;
    sent_.push_back({.packet = sent});
    if (sent_.size() > kMaxSent) {
      if (!sent_.front().is_reported) in_flight_ -= sent_.front().packet.size;
      sent_.pop_front();
    }
    Apply(controller_->OnSentPacket(sent));
  }

  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp) override {
    webrtc::TransportPacketsFeedback message;
    message.feedback_time = clock_->CurrentTime();
    for (const PacketFeedback& report : feedback) {
      if (sent_.empty() || report.fate == PacketFate::kUnknown) continue;
      const int64_t index = report.sequence_number - sent_.front().packet.sequence_number;
      if (index < 0 || index >= static_cast<int64_t>(sent_.size())) continue;
      Sent& sent = sent_[static_cast<size_t>(index)];
      if (sent.is_received) continue;
      // Packets before a reported one are no longer in flight.
      for (; reported_ <= report.sequence_number; ++reported_) {
        const int64_t earlier = reported_ - sent_.front().packet.sequence_number;
        if (earlier < 0 || std::exchange(sent_[static_cast<size_t>(earlier)].is_reported, true)) continue;
        in_flight_ -= sent_[static_cast<size_t>(earlier)].packet.size;
      }
      webrtc::PacketResult result;
      result.sent_packet = sent.packet;
      if (report.fate == PacketFate::kReceived) {
        result.receive_time = webrtc::Timestamp::Micros(report.receive_time.us());
        sent.is_received = true;
      }
      message.packet_feedbacks.push_back(result);
    }
    if (message.packet_feedbacks.empty()) return;
    message.data_in_flight = in_flight_;
    Apply(controller_->OnTransportPacketsFeedback(message));
  }

  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp) override {
    webrtc::RoundTripTimeUpdate update;
    update.receive_time = clock_->CurrentTime();
    update.round_trip_time = adapter::ToWebrtc(round_trip_time);
    Apply(controller_->OnRoundTripTimeUpdate(update));
  }

  void OnTimeout(Timestamp) override {
    if (clock_->CurrentTime() - process_time_ >= kProcessInterval) Process();
  }

  void SetDesiredRate(const DesiredRate& desired, Timestamp) override {
    const DataRate max_rate = std::max(kDownlinkStartRate, desired.total * kMaxOverDesired);
    if (max_rate >= max_rate_ * (1 - kMaxRateStep) && max_rate <= max_rate_ * (1 + kMaxRateStep)) return;
    max_rate_ = max_rate;
    Apply(controller_->OnStreamsConfig(Streams()));
    Apply(controller_->OnTargetRateConstraints(Constraints()));
  }

  std::optional<ProbeClusterConfig> TakeProbeCluster() override {
    if (probes_.empty()) return std::nullopt;
    const ProbeClusterConfig cluster = probes_.front();
    probes_.pop_front();
    return cluster;
  }

  DataRate target_rate() const override { return target_rate_; }

 private:
  struct Sent {
    webrtc::SentPacket packet;
    bool is_reported = false;
    bool is_received = false;
  };

  webrtc::TargetRateConstraints Constraints() const {
    webrtc::TargetRateConstraints constraints;
    constraints.at_time = clock_->CurrentTime();
    constraints.min_data_rate = adapter::ToWebrtc(kMinRate);
    constraints.max_data_rate = adapter::ToWebrtc(max_rate_);
    return constraints;
  }

  webrtc::StreamsConfig Streams() const {
    webrtc::StreamsConfig streams;
    streams.at_time = clock_->CurrentTime();
    streams.requests_alr_probing = true;
    streams.pacing_factor = kPacingFactor;
    streams.min_total_allocated_bitrate = adapter::ToWebrtc(kMinRate);
    streams.max_padding_rate = adapter::ToWebrtc(max_rate_ * kPaddingShare);
    streams.max_total_allocated_bitrate = adapter::ToWebrtc(max_rate_);
    return streams;
  }

  void Process() {
    process_time_ = clock_->CurrentTime();
    webrtc::ProcessInterval message;
    message.at_time = process_time_;
    Apply(controller_->OnProcessInterval(message));
  }

  void Apply(const webrtc::NetworkControlUpdate& update) {
    if (update.target_rate) target_rate_ = adapter::FromWebrtc(update.target_rate->target_rate);
    for (const webrtc::ProbeClusterConfig& cluster : update.probe_cluster_configs) {
      const webrtc::DataSize size = cluster.target_data_rate * cluster.target_duration;
      clusters_[cluster.id] =
          webrtc::PacedPacketInfo(cluster.id, cluster.target_probe_count, static_cast<int>(size.bytes()));
      clusters_[cluster.id].send_bitrate = cluster.target_data_rate;
      probes_.push_back({.at_time = Timestamp::Micros(cluster.at_time.us()),
                         .id = cluster.id,
                         .target_data_rate = adapter::FromWebrtc(cluster.target_data_rate),
                         .target_duration = adapter::FromWebrtc(cluster.target_duration),
                         .target_probe_count = cluster.target_probe_count});
    }
  }

  const webrtc::Environment environment_;
  webrtc::Clock* const clock_;
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  DataRate max_rate_ = kDownlinkStartRate;
  DataRate target_rate_ = kDownlinkStartRate;
  webrtc::Timestamp process_time_ = webrtc::Timestamp::MinusInfinity();
  std::deque<Sent> sent_;
  // Packets below this number have been reported.
  int64_t reported_ = 0;
  webrtc::DataSize in_flight_ = webrtc::DataSize::Zero();
  std::deque<ProbeClusterConfig> probes_;
  std::map<int, webrtc::PacedPacketInfo> clusters_;
};

}  // namespace

std::unique_ptr<DownlinkEstimator> MakeGccDownlinkEstimator(const VirtualClock* clock) {
  return std::make_unique<GccDownlinkEstimator>(clock->webrtc_clock());
}

}  // namespace weir::sim
