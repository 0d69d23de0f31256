#include "sender_loss_limit.h"

#include <optional>

#include "api/rtc_event_log/rtc_event_log.h"
#include "conversions.h"
#include "libwebrtc_globals.h"
#include "modules/congestion_controller/goog_cc/send_side_bandwidth_estimation.h"

namespace weir::adapter {

struct SenderLossLimit::Libwebrtc {
  explicit Libwebrtc(Timestamp now) : time(now) {}

  TimeConverter time;
  FieldTrialsOfController field_trials;
  webrtc::RtcEventLogNull event_log;
  webrtc::SendSideBandwidthEstimation estimation{&field_trials, &event_log};
};

SenderLossLimit::SenderLossLimit(DataRate start_rate, DataRate min_rate, Timestamp now)
    : libwebrtc_(std::make_unique<Libwebrtc>(now)) {
  SilenceLibwebrtcLog();
  libwebrtc_->estimation.SetBitrates(ToWebrtc(start_rate), ToWebrtc(min_rate), webrtc::DataRate::PlusInfinity(),
                                     libwebrtc_->time.ToWebrtc(now));
}

SenderLossLimit::~SenderLossLimit() = default;

void SenderLossLimit::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  if (const auto message = libwebrtc_->time.ToWebrtc(update)) {
    libwebrtc_->estimation.UpdateRtt(message->round_trip_time, message->receive_time);
  }
}

void SenderLossLimit::OnTransportLossReport(const TransportLossReport& report) {
  const auto message = libwebrtc_->time.ToWebrtc(report);
  if (!message) return;
  const auto lost = static_cast<int64_t>(message->packets_lost_delta);
  const auto received = static_cast<int64_t>(message->packets_received_delta);
  libwebrtc_->estimation.UpdatePacketsLost(lost, lost + received, message->receive_time);
}

DataRate SenderLossLimit::rate() const { return FromWebrtc(libwebrtc_->estimation.target_rate()); }

}  // namespace weir::adapter
