#include "sender/target_announcement.h"

#include <algorithm>

namespace weir::adapter {
namespace {

using webrtc::DataRate;
using webrtc::TimeDelta;

constexpr DataRate kDefaultMinRate = DataRate::KilobitsPerSec(30);

// Sets the averaging time of the audio encoder; a short one makes it follow sooner. Versions after M150 lack it.
template <typename Estimate>
void SetAveragingTime(Estimate& estimate) {
  if constexpr (requires { estimate.bwe_period; }) estimate.bwe_period = TimeDelta::Seconds(1);
}

}  // namespace

TargetAnnouncement::TargetAnnouncement(const webrtc::NetworkControllerConfig& config, double pacing_factor,
                                       TimeDelta pacing_window)
    : pacing_factor_(pacing_factor), pacing_window_(pacing_window), streams_(config.stream_based_config) {
  SetConstraints(config.constraints);
}

void TargetAnnouncement::SetConstraints(const webrtc::TargetRateConstraints& constraints) {
  const DataRate min_rate = constraints.min_data_rate.value_or(DataRate::Zero());
  const DataRate max_rate = constraints.max_data_rate.value_or(DataRate::PlusInfinity());
  min_rate_ = min_rate.IsFinite() && !min_rate.IsZero() ? min_rate : kDefaultMinRate;
  max_rate_ = std::max(max_rate, min_rate_);
  start_rate_ = constraints.starting_rate.value_or(start_rate_);
}

void TargetAnnouncement::SetPacing(double factor, TimeDelta window) {
  if (factor != pacing_factor_ || window != pacing_window_) announced_.reset();
  pacing_factor_ = factor;
  pacing_window_ = window;
}

void TargetAnnouncement::HoldFrames(bool hold) {
  if (hold != holds_frames_) announced_.reset();
  holds_frames_ = hold;
}

void TargetAnnouncement::SetStreams(const webrtc::StreamsConfig& streams) {
  const auto keep = [](auto& value, const auto& update) {
    if (update) value = update;
  };
  keep(streams_.pacing_factor, streams.pacing_factor);
  keep(streams_.min_total_allocated_bitrate, streams.min_total_allocated_bitrate);
  keep(streams_.max_padding_rate, streams.max_padding_rate);
  keep(streams_.max_total_allocated_bitrate, streams.max_total_allocated_bitrate);
  announced_.reset();
}

DataRate TargetAnnouncement::desired_rate() const {
  const DataRate rate = streams_.max_total_allocated_bitrate.value_or(DataRate::Zero());
  return rate.IsFinite() && !rate.IsZero() ? std::max(2 * rate, min_rate_) : DataRate::PlusInfinity();
}

void TargetAnnouncement::SetRoundTripTime(TimeDelta round_trip_time) {
  if (round_trip_time.IsFinite() && round_trip_time > TimeDelta::Zero()) round_trip_time_ = round_trip_time;
}

webrtc::NetworkControlUpdate TargetAnnouncement::Announce(DataRate target, double loss_ratio, webrtc::Timestamp now) {
  webrtc::NetworkControlUpdate update;
  if (!now.IsFinite() || announced_ == target) return update;
  announced_ = target;

  webrtc::TargetTransferRate transfer_rate;
  transfer_rate.at_time = now;
  transfer_rate.target_rate = holds_frames_ ? DataRate::Zero() : target;
  transfer_rate.network_estimate.at_time = now;
  transfer_rate.network_estimate.loss_rate_ratio = static_cast<float>(loss_ratio);
  transfer_rate.network_estimate.round_trip_time = round_trip_time_;
  SetAveragingTime(transfer_rate.network_estimate);
  update.target_rate = transfer_rate;
  update.pacer_config = Pacer(target, now);
  return update;
}

webrtc::PacerConfig TargetAnnouncement::Pacer(DataRate target, webrtc::Timestamp now) const {
  const double factor =
      streams_.pacing_factor && *streams_.pacing_factor >= 1.0 ? *streams_.pacing_factor : pacing_factor_;
  const DataRate floor = streams_.min_total_allocated_bitrate.value_or(DataRate::Zero());
  const DataRate padding = std::min(streams_.max_padding_rate.value_or(DataRate::Zero()), target);
  return webrtc::PacerConfig::Create(now, std::max(target * factor, floor), padding, pacing_window_);
}

}  // namespace weir::adapter
