// Transport feedback that leaves losses out: a message ends before each, and the sender takes what no message covers
// for neither received nor lost (draft-holmer-rmcat-transport-wide-cc-extensions-01).
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_FEEDBACK_WITHOUT_LOSSES_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_FEEDBACK_WITHOUT_LOSSES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "modules/rtp_rtcp/source/rtcp_packet.h"

namespace weir::adapter {

class FeedbackWithoutLosses {
 public:
  using Messages = std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>;

  // `messages` are rtcp::TransportFeedback. They are numbered anew, since there may be more of them. Each needs an RTCP
  // packet of its own: of a compound packet RTCPReceiver keeps the last. A loss so costs some 60 bytes with UDP and IP.
  Messages Filter(Messages messages, bool omits_losses);

 private:
  uint8_t next_number_ = 0;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_FEEDBACK_WITHOUT_LOSSES_H_
