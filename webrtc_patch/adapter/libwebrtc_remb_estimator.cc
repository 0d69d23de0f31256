#include "libwebrtc_remb_estimator.h"

#include <algorithm>

#include "modules/remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.h"
#include "modules/remote_bitrate_estimator/remote_bitrate_estimator_single_stream.h"

namespace weir::adapter {
namespace {

constexpr int kPacketsToGiveUp = 30;

}  // namespace

LibwebrtcRembEstimator::LibwebrtcRembEstimator(webrtc::RemoteBitrateObserver* observer, webrtc::Clock* clock)
    : observer_(observer),
      clock_(clock),
      estimator_(std::make_unique<webrtc::RemoteBitrateEstimatorSingleStream>(observer, clock)) {}

void LibwebrtcRembEstimator::IncomingPacket(int64_t arrival_time_ms, size_t payload_size,
                                            const webrtc::RTPHeader& header) {
  Pick(header.extension.hasAbsoluteSendTime);
  estimator_->IncomingPacket(arrival_time_ms, payload_size, header);
}

void LibwebrtcRembEstimator::Pick(bool has_absolute_send_time) {
  packets_without_ = has_absolute_send_time ? 0 : std::min(packets_without_ + 1, kPacketsToGiveUp);
  if (has_absolute_send_time && !uses_absolute_send_time_) {
    uses_absolute_send_time_ = true;
    estimator_ = std::make_unique<webrtc::RemoteBitrateEstimatorAbsSendTime>(observer_, clock_);
  } else if (uses_absolute_send_time_ && packets_without_ >= kPacketsToGiveUp) {
    uses_absolute_send_time_ = false;
    estimator_ = std::make_unique<webrtc::RemoteBitrateEstimatorSingleStream>(observer_, clock_);
  }
}

}  // namespace weir::adapter
