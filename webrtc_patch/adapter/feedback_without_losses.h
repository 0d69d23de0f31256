// Removes losses from transport feedback: a message ends before each loss, and the sender counts packets that no
// message covers as neither received nor lost (draft-holmer-rmcat-transport-wide-cc-extensions-01).
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

  // `messages` are rtcp::TransportFeedback, renumbered because the result may have more. Each needs its own RTCP
  // packet: RTCPReceiver keeps only the last of a compound packet. So a loss costs about 60 bytes with UDP and IP.
  Messages Filter(Messages messages, bool omits_losses);

 private:
  uint8_t next_number_ = 0;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_FEEDBACK_WITHOUT_LOSSES_H_
