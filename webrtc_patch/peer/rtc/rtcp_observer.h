// Sees every RTCP packet that libwebrtc sends and receives, in the clear: its event log, with an ear instead of a file.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_RTCP_OBSERVER_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_RTCP_OBSERVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "api/rtc_event_log/rtc_event_log_factory_interface.h"
#include "system_wrappers/include/ntp_time.h"
#include "weir/units.h"

namespace weir::peer {

// Called on libwebrtc's threads, possibly at the same time; must outlive the PeerConnection.
struct RtcpObserver {
  std::function<void(DataRate rate)> on_remb_sent;
  using OnSenderReport = std::function<void(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp)>;
  OnSenderReport on_sender_report;
  OnSenderReport on_sender_report_sent;
};

std::unique_ptr<webrtc::RtcEventLogFactoryInterface> MakeRtcpObserverFactory(const RtcpObserver& observer);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_RTCP_OBSERVER_H_
