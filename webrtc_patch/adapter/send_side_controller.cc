#include "send_side_controller.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "api/transport/goog_cc_factory.h"
#include "estimate_bounds.h"
#include "libwebrtc_globals.h"
#include "libwebrtc_version.h"
#include "modules/congestion_controller/pcc/pcc_factory.h"
#include "modules/congestion_controller/pcc/pcc_network_controller.h"
#include "rate_controllers.h"
#include "weir/remb_sender.h"

namespace weir::adapter {
namespace {

// The pacing factor of libwebrtc's video send stream with transport feedback.
constexpr double kVideoPacingFactor = 1.1;
// libwebrtc of 2023 converts the minimum rate to 32 bits and aborts if it does not fit.
constexpr DataRate kLargestMinRate = DataRate::KilobitsPerSecond(2'000'000);

}  // namespace

SendSideController::SendSideController(std::string_view name,
                                       std::unique_ptr<webrtc::NetworkControllerFactoryInterface> factory,
                                       const FieldTrials& field_trials, Options options)
    : name_(name), factory_(std::move(factory)), field_trials_(field_trials), options_(std::move(options)) {
  SilenceLibwebrtcLog();
}

void SendSideController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  const Timestamp now = constraints.at_time;
  const bool start_rate_changed = constraints.start_rate != constraints_.start_rate;
  constraints_ = constraints;
  if (!controller_) {
    Start(now);
    return;
  }
  const ScopedSimulatedTime simulated_time(time_->ToWebrtc(now));
  webrtc::TargetRateConstraints message = Bounds(now);
  // A start rate resets the estimate, so libwebrtc repeats it only when it has changed.
  if (start_rate_changed) message.starting_rate = adapter::ToWebrtc(constraints.start_rate);
  Collect(controller_->OnTargetRateConstraints(message), now);
  Collect(controller_->OnStreamsConfig(StreamsConfig(now)), now);
  // The new bounds take effect at once, whatever the controller does with them.
  ApplyBounds(now);
}

void SendSideController::Start(Timestamp now) {
  time_.emplace(now);
  const ScopedSimulatedTime simulated_time(time_->ToWebrtc(now));
  webrtc::NetworkControllerConfig config = MakeControllerConfig(&field_trials_, &event_log_);
  config.constraints = Bounds(now);
  config.constraints.starting_rate = adapter::ToWebrtc(
      options_.receiver_decides ? std::max(constraints_.start_rate, kStartRateOfReceiver) : constraints_.start_rate);
  config.stream_based_config = StreamsConfig(now);
  controller_ = factory_->Create(std::move(config));
  // In force until the controller sets another.
  wanted_target_rate_ = constraints_.start_rate;

  webrtc::NetworkAvailability available;
  available.at_time = time_->ToWebrtc(now);
  available.network_available = true;
  Collect(controller_->OnNetworkAvailability(available), now);
  Collect(controller_->OnStreamsConfig(StreamsConfig(now)), now);
  if (options_.receiver_decides) FollowReceiver(now);
  ProcessInterval(now);
  timer_.Start(now, adapter::FromWebrtc(factory_->GetProcessInterval()));
  ApplyBounds(now);
}

void SendSideController::FollowReceiver(Timestamp now) {
  webrtc::NetworkStateEstimate estimate;
  estimate.update_time = time_->ToWebrtc(now);
  estimate.link_capacity_lower = adapter::ToWebrtc(kRemoteEstimateLower);
  Collect(controller_->OnNetworkStateEstimate(estimate), now);
  OnRemoteBitrateReport({.receive_time = now, .bandwidth = constraints_.start_rate});
}

webrtc::TargetRateConstraints SendSideController::Bounds(Timestamp now) const {
  webrtc::TargetRateConstraints bounds;
  bounds.at_time = time_->ToWebrtc(now);
  bounds.min_data_rate = adapter::ToWebrtc(std::min(constraints_.min_rate, kLargestMinRate));
  bounds.max_data_rate = adapter::ToWebrtc(constraints_.max_rate);
  return bounds;
}

webrtc::StreamsConfig SendSideController::StreamsConfig(Timestamp now) const {
  webrtc::StreamsConfig config;
  config.at_time = time_->ToWebrtc(now);
  config.requests_alr_probing = true;
  config.pacing_factor = kVideoPacingFactor;
  config.max_total_allocated_bitrate = adapter::ToWebrtc(std::min(constraints_.max_media_rate, constraints_.max_rate));
  return config;
}

void SendSideController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  Deliver(update.receive_time, [&] {
    const auto message = time_->ToWebrtc(update);
    return message ? controller_->OnRoundTripTimeUpdate(*message) : webrtc::NetworkControlUpdate();
  });
}

void SendSideController::OnSentPacket(const SentPacket& packet) {
  Deliver(packet.send_time, [&] { return controller_->OnSentPacket(time_->ToWebrtc(packet)); });
}

void SendSideController::OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) {
  Deliver(feedback.feedback_time, [&] {
    const auto update = controller_->OnTransportPacketsFeedback(time_->ToWebrtc(feedback));
    if (options_.after_feedback) options_.after_feedback(*controller_, constraints_);
    return update;
  });
}

void SendSideController::OnTransportLossReport(const TransportLossReport& report) {
  Deliver(report.receive_time, [&] {
    const auto message = time_->ToWebrtc(report);
    return message ? controller_->OnTransportLossReport(*message) : webrtc::NetworkControlUpdate();
  });
}

void SendSideController::OnRemoteBitrateReport(const RemoteBitrateReport& report) {
  Deliver(report.receive_time, [&] {
    webrtc::RemoteBitrateReport message;
    message.receive_time = time_->ToWebrtc(report.receive_time);
    message.bandwidth = webrtc::DataRate::BitsPerSec(report.bandwidth.bps());
    return controller_->OnRemoteBitrateReport(message);
  });
}

template <class Message>
void SendSideController::Deliver(Timestamp time, Message message) {
  assert(controller_ && "constraints come first");
  if (!time.IsFinite()) return;
  const ScopedSimulatedTime simulated_time(time_->ToWebrtc(time));
  Collect(message(), time);
}

SenderControlUpdate SendSideController::OnTimeout(Timestamp now) {
  if (timer_.Take(now)) {
    const ScopedSimulatedTime simulated_time(time_->ToWebrtc(now));
    ProcessInterval(now);
  }
  pending_since_ = Timestamp::PlusInfinity();
  return std::exchange(pending_, SenderControlUpdate{});
}

Timestamp SendSideController::next_timeout() const { return std::min(pending_since_, timer_.due()); }

void SendSideController::ProcessInterval(Timestamp now) {
  webrtc::ProcessInterval message;
  message.at_time = time_->ToWebrtc(now);
  Collect(controller_->OnProcessInterval(message), now);
}

void SendSideController::Collect(const webrtc::NetworkControlUpdate& update, Timestamp now) {
  for (const webrtc::ProbeClusterConfig& cluster : update.probe_cluster_configs) {
    pending_.probe_cluster_configs.push_back(time_->FromWebrtc(cluster));
    pending_since_ = std::min(pending_since_, now);
  }
  if (update.congestion_window) {
    pending_.congestion_window = adapter::FromWebrtc(*update.congestion_window);
    pending_since_ = std::min(pending_since_, now);
  }
  if (update.target_rate) {
    wanted_target_rate_ = time_->FromWebrtc(*update.target_rate).target_rate;
    frame_drop_ratio_ = FrameDropRatio(*update.target_rate);
  }
  if (update.pacer_config) wanted_pacer_config_ = time_->FromWebrtc(*update.pacer_config);
  if (update.target_rate || update.pacer_config) ApplyBounds(now);
}

void SendSideController::ApplyBounds(Timestamp now) {
  // PCC has no bounds and computes its pacing rate in whole bytes per millisecond, which can be 0. So this bounds the
  // target rate, and keeps the pacing rate between the target and the pacing rate of the maximum.
  const DataRate target_rate = std::clamp(wanted_target_rate_, constraints_.min_rate, constraints_.max_rate);
  if (target_rate != target_rate_ || frame_drop_ratio_ != applied_frame_drop_ratio_) {
    target_rate_ = target_rate;
    applied_frame_drop_ratio_ = frame_drop_ratio_;
    pending_.target_rate = TargetTransferRate{.at_time = now, .target_rate = target_rate};
    pending_.frame_drop_ratio = frame_drop_ratio_;
    pending_since_ = std::min(pending_since_, now);
  }
  if (!wanted_pacer_config_) return;
  const DataRate highest_pacing_rate = constraints_.max_rate * kVideoPacingFactor;
  const PacerConfig pacer_config{
      .at_time = now,
      .pacing_rate = std::clamp(wanted_pacer_config_->pacing_rate, target_rate, highest_pacing_rate),
      .padding_rate = std::clamp(wanted_pacer_config_->padding_rate, DataRate::Zero(), target_rate),
      .burst_interval = wanted_pacer_config_->burst_interval};
  if (!pacer_config_ || pacer_config.pacing_rate != pacer_config_->pacing_rate ||
      pacer_config.padding_rate != pacer_config_->padding_rate ||
      pacer_config.burst_interval != pacer_config_->burst_interval) {
    pacer_config_ = pacer_config;
    pending_.pacer_config = pacer_config;
    pending_since_ = std::min(pending_since_, now);
  }
}

}  // namespace weir::adapter

namespace weir {

int LibwebrtcMilestone() { return WEIR_LIBWEBRTC_MILESTONE; }
std::string_view LibwebrtcVersion() { return WEIR_LIBWEBRTC_VERSION; }

namespace {

std::unique_ptr<SenderController> MakeGcc(const FieldTrials& field_trials, bool receiver_decides) {
  FieldTrials all = field_trials;
  all.merge(ParseFieldTrials(adapter::kDefaultGccTrials).value());
  return std::make_unique<adapter::SendSideController>(
      "gcc", std::make_unique<webrtc::GoogCcNetworkControllerFactory>(), all,
      adapter::SendSideController::Options{
          .after_feedback = [](webrtc::NetworkControllerInterface& controller,
                               const TargetRateConstraints&) { adapter::StopLossBasedEstimate(controller); },
          .receiver_decides = receiver_decides});
}

}  // namespace

std::unique_ptr<SenderController> MakeGccController(const FieldTrials& field_trials) {
  return MakeGcc(field_trials, /*receiver_decides=*/false);
}

std::unique_ptr<SenderController> MakeGccOfReceiver() { return MakeGcc({}, /*receiver_decides=*/true); }

std::unique_ptr<SenderController> MakeScreamController(const FieldTrials& field_trials) {
  return std::make_unique<adapter::SendSideController>(
      "scream", std::make_unique<webrtc::GoogCcNetworkControllerFactory>(), field_trials,
      adapter::SendSideController::Options{.holds_frames = true});
}

std::unique_ptr<SenderController> MakePccController() {
  return std::make_unique<adapter::SendSideController>(
      "pcc", std::make_unique<webrtc::PccNetworkControllerFactory>(), FieldTrials(),
      adapter::SendSideController::Options{.after_feedback = [](webrtc::NetworkControllerInterface& controller,
                                                                const TargetRateConstraints& constraints) {
        adapter::BoundPccEstimate(static_cast<webrtc::pcc::PccNetworkController&>(controller), constraints);
      }});
}

}  // namespace weir
