// Differences between the versions of libwebrtc that this folder compiles with: January 2023 (milestone 109), and M150
// and later. Only conversions.cc, estimate_bounds.cc and sender/target_announcement.cc also depend on the version.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_VERSION_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_VERSION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "api/field_trials_view.h"
#include "api/rtc_event_log/rtc_event_log.h"
#include "api/transport/network_control.h"
#include "modules/remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.h"
#include "system_wrappers/include/clock.h"

#if WEIR_LIBWEBRTC_MILESTONE >= 150

#include "api/environment/environment_factory.h"
#include "api/rtp_header_extension_id.h"
#include "modules/rtp_rtcp/include/rtp_header_extension_map.h"
#include "modules/rtp_rtcp/source/rtp_header_extensions.h"
#include "modules/rtp_rtcp/source/rtp_packet_received.h"

namespace weir::adapter {

namespace rtc = ::webrtc;

// libwebrtc's defaults match those of browsers.
inline constexpr char kDefaultGccTrials[] = "";

inline webrtc::NetworkControllerConfig MakeControllerConfig(const webrtc::FieldTrialsView* field_trials,
                                                            webrtc::RtcEventLog* event_log) {
  return webrtc::NetworkControllerConfig(webrtc::CreateEnvironment(field_trials, event_log));
}

inline void SetSendRate(webrtc::DataRate rate, webrtc::PacedPacketInfo& info) { info.send_bitrate = rate; }
inline webrtc::TimeDelta BurstInterval(const webrtc::PacerConfig& config) { return config.time_window; }
inline double FrameDropRatio(const webrtc::TargetTransferRate& target) { return target.cwnd_reduce_ratio; }

class AbsSendTimeEstimator {
 public:
  AbsSendTimeEstimator(webrtc::RemoteBitrateObserver* observer, webrtc::Clock* clock)
      : clock_(clock), estimator_(webrtc::CreateEnvironment(clock), observer) {
    extensions_.Register<webrtc::AbsoluteSendTime>(webrtc::RtpHeaderExtensionId(1));
  }

  void OnRttUpdate(int64_t round_trip_time_ms) { estimator_.OnRttUpdate(round_trip_time_ms, round_trip_time_ms); }
  void OnPacket(size_t payload_size, uint32_t abs_send_time) {
    webrtc::RtpPacketReceived packet(&extensions_, clock_->CurrentTime());
    packet.SetExtension<webrtc::AbsoluteSendTime>(abs_send_time);
    packet.SetPayloadSize(std::min(payload_size, kLargestPacketBytes));
    estimator_.IncomingPacket(packet);
  }

 private:
  static constexpr size_t kLargestPacketBytes = 65'535;

  webrtc::Clock* const clock_;
  webrtc::RtpHeaderExtensionMap extensions_;
  webrtc::RemoteBitrateEstimatorAbsSendTime estimator_;
};

}  // namespace weir::adapter

#else

#include "api/rtp_headers.h"

namespace weir::adapter {

// LossBasedBweV2 is off by default in the libwebrtc of January 2023 and on in browsers since. The values are those of
// Chromium 150, for the parameters that this version has.
inline constexpr char kDefaultGccTrials[] =
    "WebRTC-Bwe-LossBasedBweV2/"
    "Enabled:true,BwRampupUpperBoundFactor:1.5,CandidateFactors:1.02|1.0|0.95,HigherBwBiasFactor:0.0002,"
    "HigherLogBwBiasFactor:0.02,LossThresholdOfHighBandwidthPreference:0.2,InherentLossUpperBoundBwBalance:100kbps,"
    "NewtonStepSize:0.75,DelayBasedCandidate:true,ObservationDurationLowerBound:250ms,ObservationWindowSize:15,"
    "InstantUpperBoundTemporalWeightFactor:0.9,InstantUpperBoundBwBalance:100kbps,TemporalWeightFactor:0.9,"
    "MaxIncreaseFactor:1.3,NotIncreaseIfInherentLossLessThanAverageLoss:true/";

inline webrtc::NetworkControllerConfig MakeControllerConfig(const webrtc::FieldTrialsView* field_trials,
                                                            webrtc::RtcEventLog* event_log) {
  webrtc::NetworkControllerConfig config;
  config.key_value_config = field_trials;
  config.event_log = event_log;
  return config;
}

inline void SetSendRate(webrtc::DataRate rate, webrtc::PacedPacketInfo& info) {
  info.send_bitrate_bps = static_cast<int>(rate.bps());
}

// Ignored, so that results of earlier replays stay the same.
inline double FrameDropRatio(const webrtc::TargetTransferRate&) { return 0; }

// This version's pacer has its own.
inline webrtc::TimeDelta BurstInterval(const webrtc::PacerConfig&) { return webrtc::TimeDelta::Millis(40); }

class AbsSendTimeEstimator {
 public:
  AbsSendTimeEstimator(webrtc::RemoteBitrateObserver* observer, webrtc::Clock* clock)
      : clock_(clock), estimator_(observer, clock) {
    header_.extension.hasAbsoluteSendTime = true;
    header_.ssrc = 0;
  }

  void OnRttUpdate(int64_t round_trip_time_ms) { estimator_.OnRttUpdate(round_trip_time_ms, round_trip_time_ms); }
  void OnPacket(size_t payload_size, uint32_t abs_send_time) {
    header_.extension.absoluteSendTime = abs_send_time;
    estimator_.IncomingPacket(clock_->TimeInMilliseconds(), payload_size, header_);
  }

 private:
  webrtc::Clock* const clock_;
  webrtc::RTPHeader header_;
  webrtc::RemoteBitrateEstimatorAbsSendTime estimator_;
};

}  // namespace weir::adapter

#endif

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_VERSION_H_
