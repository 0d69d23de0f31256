#include "sender/weir_network_controller.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "conversions.h"
#include "rtc_base/checks.h"
#include "rtc_base/time_utils.h"
#include "sender/pacer_backlog.h"
#include "sender/target_announcement.h"
#include "weir/send_side_estimator.h"

namespace weir {
namespace {

using webrtc::NetworkControlUpdate;

// Bounds the lateness of decisions, which are due about every 100 ms.
constexpr webrtc::TimeDelta kProcessInterval = webrtc::TimeDelta::Millis(25);
// For hosts that set no maximum.
constexpr DataRate kDefaultMaxRate = TargetRateConstraints{}.max_rate;

// Both libraries use the same monotonic clock in microseconds.
Timestamp FromWebrtc(webrtc::Timestamp time) {
  return time.IsFinite() ? Timestamp::Micros(time.us()) : Timestamp::MinusInfinity();
}

PacketKind KindOf(const webrtc::SentPacket& packet) {
  if (packet.pacing_info.probe_cluster_id != webrtc::PacedPacketInfo::kNotAProbe) return PacketKind::kProbe;
  return packet.audio ? PacketKind::kAudio : PacketKind::kVideo;
}

webrtc::ProbeClusterConfig ToWebrtc(const ProbeClusterConfig& config, int32_t id, webrtc::Timestamp now) {
  webrtc::ProbeClusterConfig result;
  result.at_time = now;
  result.target_data_rate = adapter::ToWebrtc(config.target_data_rate);
  result.target_duration = adapter::ToWebrtc(config.target_duration);
  result.target_probe_count = config.target_probe_count;
  result.id = id;
  return result;
}

// Replaces the default of SendSideEstimator and the streams' factor: when the target drops, libwebrtc's pacer still
// holds the encoder's last frames, which at 1.1 times a low target would wait for long.
constexpr double kPacingFactor = 2.5;
// Lower, because an L4S queue marks bursts; at 1.1, frames would wait for half a second when the capacity drops.
constexpr double kEct1PacingFactor = 1.5;

// libwebrtc's allocation to the encoders excludes RTP headers.
constexpr double kWithHeaders = 1.1;

webrtc::NetworkControllerConfig WithoutPacingFactor(webrtc::NetworkControllerConfig config) {
  config.stream_based_config.pacing_factor.reset();
  return config;
}

class WeirNetworkController final : public webrtc::NetworkControllerInterface {
 public:
  WeirNetworkController(const webrtc::NetworkControllerConfig& config, const WeirNetworkControllerOptions& options)
      : options_(options),
        announcement_(WithoutPacingFactor(config), kPacingFactor, config.default_pacing_time_window) {
    SetMostAllocated(config.stream_based_config);
    Begin(adapter::FromWebrtc(announcement_.start_rate()));
  }

  NetworkControlUpdate OnNetworkAvailability(webrtc::NetworkAvailability message) override {
    const bool was_available = std::exchange(available_, message.network_available);
    if (available_ && !was_available) Begin(Target());
    return Update(message.at_time);
  }

  NetworkControlUpdate OnNetworkRouteChange(webrtc::NetworkRouteChange message) override {
    announcement_.SetConstraints(message.constraints);
    // The last REMB is from another path.
    remb_.reset();
    Begin(adapter::FromWebrtc(announcement_.start_rate()));
    return Update(message.at_time);
  }

  NetworkControlUpdate OnProcessInterval(webrtc::ProcessInterval message) override {
    const Timestamp now = FromWebrtc(message.at_time);
    // Without a network, missing feedback is no information about the path.
    if (available_ && estimator_->next_timeout() <= now) estimator_->OnTimeout(now);
    if (options_.on_process_interval) options_.on_process_interval(estimator_->estimator());
    return Update(message.at_time);
  }

  NetworkControlUpdate OnRemoteBitrateReport(webrtc::RemoteBitrateReport message) override {
    // A receiver without an estimate sends 0 for "no limit".
    if (!message.bandwidth.IsFinite() || message.bandwidth.IsZero()) return NetworkControlUpdate();
    remb_ = adapter::FromWebrtc(message.bandwidth);
    SetEstimatorConstraints();
    return Update(message.receive_time);
  }

  NetworkControlUpdate OnRoundTripTimeUpdate(webrtc::RoundTripTimeUpdate message) override {
    announcement_.SetRoundTripTime(message.round_trip_time);
    estimator_->OnRoundTripTime(adapter::FromWebrtc(announcement_.round_trip_time()));
    return NetworkControlUpdate();
  }

  NetworkControlUpdate OnSentPacket(webrtc::SentPacket message) override {
    estimator_->OnSentPacket(
        {.send_time = FromWebrtc(message.send_time),
         .sequence_number = message.sequence_number,
         .kind = KindOf(message),
         .size = DataSize::Bytes(message.size.bytes_or(0)),
         .probe_cluster_id = std::max(message.pacing_info.probe_cluster_id - earlier_clusters_, 0)});
    in_flight_ = message.data_in_flight;
    return Update(message.send_time);
  }

  NetworkControlUpdate OnReceivedPacket(webrtc::ReceivedPacket) override { return NetworkControlUpdate(); }

  NetworkControlUpdate OnStreamsConfig(webrtc::StreamsConfig message) override {
    message.pacing_factor.reset();
    announcement_.SetStreams(message);
    SetMostAllocated(message);
    SetEstimatorConstraints();
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTargetRateConstraints(webrtc::TargetRateConstraints message) override {
    announcement_.SetConstraints(message);
    // A start rate resets the estimate, as in libwebrtc's own controllers.
    if (message.starting_rate) {
      Begin(adapter::FromWebrtc(announcement_.start_rate()));
    } else {
      SetEstimatorConstraints();
    }
    return Update(message.at_time);
  }

  NetworkControlUpdate OnTransportLossReport(webrtc::TransportLossReport) override { return NetworkControlUpdate(); }

  NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback message) override {
    reports_.clear();
    for (const webrtc::PacketResult& result : message.packet_feedbacks) {
      reports_.push_back({.sequence_number = result.sent_packet.sequence_number,
                          .fate = result.IsReceived() ? PacketFate::kReceived : PacketFate::kLost,
                          .receive_time = FromWebrtc(result.receive_time),
                          .ecn = static_cast<EcnMarking>(result.ecn)});  // RFC 3168's code points
    }
    if (options_.return_path != nullptr && !reports_.empty()) {
      const auto [first, last] = std::ranges::minmax(reports_, {}, &PacketFeedback::sequence_number);
      options_.return_path->OnFeedback(first.sequence_number, last.sequence_number, FromWebrtc(message.feedback_time));
    }
    estimator_->OnTransportFeedback(reports_, FromWebrtc(message.feedback_time));
    in_flight_ = message.data_in_flight;
    ect1_ = ect1_ || std::ranges::find(reports_, EcnMarking::kEct1, &PacketFeedback::ecn) != reports_.end();
    SetPacing();
    const BandwidthEstimator& estimator = estimator_->estimator();
    loss_ratio_ = estimator.Statistics(estimator.latest().at_time).last_second.loss_ratio;
    return Update(message.feedback_time);
  }

  NetworkControlUpdate OnNetworkStateEstimate(webrtc::NetworkStateEstimate) override { return NetworkControlUpdate(); }

  // Makes libwebrtc send packets as ECT(1) while RFC 8888 feedback shows that the path preserves the field.
  bool SupportsEcnAdaptation() const override { return true; }

 private:
  DataRate MinRate() const { return adapter::FromWebrtc(announcement_.min_rate()); }

  // Includes REMB, which comes from the peer and may be any rate.
  DataRate MaxRate() const {
    const webrtc::DataRate max = announcement_.max_rate();
    const DataRate max_rate = max.IsFinite() ? adapter::FromWebrtc(max) : std::max(kDefaultMaxRate, MinRate());
    return std::clamp(remb_.value_or(max_rate), MinRate(), max_rate);
  }

  TargetRateConstraints EstimatorConstraints(DataRate start_rate) const {
    return {.min_rate = MinRate(),
            .start_rate = start_rate,
            .max_rate = MaxRate(),
            .max_media_rate = most_allocated_.IsZero() ? DataRate::PlusInfinity()
                                                       : std::max(most_allocated_ * kWithHeaders,
                                                                  adapter::FromWebrtc(announcement_.start_rate()))};
  }

  // Keeps the maximum, because a paused stream that resumes needs its rate again.
  void SetMostAllocated(const webrtc::StreamsConfig& streams) {
    if (!streams.max_total_allocated_bitrate || !streams.max_total_allocated_bitrate->IsFinite()) return;
    const DataRate rate = adapter::FromWebrtc(*streams.max_total_allocated_bitrate);
    most_allocated_ = rate.IsZero() ? rate : std::max(most_allocated_, rate);
  }

  // `announcement_` keeps the constraints valid.
  void SetEstimatorConstraints() { static_cast<void>(estimator_->SetConstraints(EstimatorConstraints(Target()))); }

  void Begin(DataRate start_rate) {
    const SendSideEstimatorConfig config{
        .estimator = {.constraints = EstimatorConstraints(start_rate),
                      .objective = options_.objective,
                      .decision_limit = {.clock = [] { return Timestamp::Micros(webrtc::TimeMicros()); }}},
        .probes_start = true};
    auto estimator = SendSideEstimator::Create(config, options_.controller());
    RTC_CHECK(estimator.ok()) << estimator.error();  // the factory has validated the objective
    if (estimator_) earlier_clusters_ += static_cast<int32_t>(estimator_->probe_counters().clusters);
    estimator_.emplace(std::move(estimator.value()));
    ect1_ = false;
    SetPacing();
  }

  double PacingFactor() const { return ect1_ ? kEct1PacingFactor : kPacingFactor; }

  void SetPacing() {
    const TimeDelta burst_interval = estimator_->pacer_config().burst_interval;
    announcement_.SetPacing(PacingFactor(), webrtc::TimeDelta::Micros(burst_interval.us()));
  }

  // True from the first packet that the peer is to report on.
  bool started() const { return estimator_->target_rate().at_time.IsFinite(); }

  // The estimator keeps its target within its constraints, which follow every change of the bounds. Before the first
  // packet REMB is the target, because a peer without transport-cc never reports one.
  DataRate Target() const { return started() || !remb_ ? estimator_->target_rate().target_rate : MaxRate(); }

  NetworkControlUpdate Update(webrtc::Timestamp now) {
    const DataRate target = std::min(Target(), adapter::FromWebrtc(announcement_.desired_rate()));
    const webrtc::DataSize window = adapter::ToWebrtc(estimator_->congestion_window());
    backlog_.Update(now, in_flight_ >= window, PacingFactor());
    announcement_.HoldFrames(backlog_.pauses_encoder());
    NetworkControlUpdate update = announcement_.Announce(adapter::ToWebrtc(target), loss_ratio_, now);
    update.congestion_window = window;
    if (const auto cluster = estimator_->TakeProbeCluster()) {
      update.probe_cluster_configs.push_back(ToWebrtc(*cluster, earlier_clusters_ + cluster->id, now));
    }
    if (update.target_rate && target != std::exchange(reported_target_, target) && options_.on_target_rate)
      options_.on_target_rate({FromWebrtc(now), target, estimator_->estimator().latest().reason});
    return update;
  }

  const WeirNetworkControllerOptions options_;
  adapter::TargetAnnouncement announcement_;
  std::optional<SendSideEstimator> estimator_;
  // The number of clusters of earlier estimators, whose packets may still be in the pacer. Identifiers follow it.
  int32_t earlier_clusters_ = 0;
  std::optional<DataRate> remb_;
  // Highest allocation to all streams together; zero without streams.
  DataRate most_allocated_ = DataRate::Zero();
  // Loss ratio of the last second.
  double loss_ratio_ = 0;
  // The target of the latest call of on_target_rate.
  std::optional<DataRate> reported_target_;
  // Data sent that feedback has not reached yet, as libwebrtc counts it.
  webrtc::DataSize in_flight_ = webrtc::DataSize::Zero();
  adapter::PacerBacklog backlog_;
  bool available_ = true;
  // True once a packet on this route has arrived as ECT(1).
  bool ect1_ = false;
  // Scratch space for one message.
  std::vector<PacketFeedback> reports_;
};

class WeirNetworkControllerFactory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  explicit WeirNetworkControllerFactory(WeirNetworkControllerOptions options) : options_(std::move(options)) {
    if (!options_.controller) options_.controller = RuleAlone();
  }

  std::unique_ptr<webrtc::NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<WeirNetworkController>(config, options_);
  }
  webrtc::TimeDelta GetProcessInterval() const override { return kProcessInterval; }

 private:
  WeirNetworkControllerOptions options_;
};

}  // namespace

Result<std::unique_ptr<webrtc::NetworkControllerFactoryInterface>> MakeWeirNetworkControllerFactory(
    WeirNetworkControllerOptions options) {
  if (auto error = CheckObjective(options.objective)) return std::move(*error);
  return std::unique_ptr<webrtc::NetworkControllerFactoryInterface>(
      std::make_unique<WeirNetworkControllerFactory>(std::move(options)));
}

}  // namespace weir
