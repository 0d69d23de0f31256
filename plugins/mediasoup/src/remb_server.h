// Weir in place of mediasoup's estimator at the receiver, and beside transport-wide feedback.
#ifndef WEIR_PLUGINS_MEDIASOUP_REMB_SERVER_H_
#define WEIR_PLUGINS_MEDIASOUP_REMB_SERVER_H_

#include <libwebrtc/modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h>

#include <array>
#include <cstdint>
#include <string>

#include "RTC/RTCP/Packet.hpp"
#include "RTC/RTP/Packet.hpp"
#include "SharedInterface.hpp"
#include "weir/weir.h"

namespace weir::mediasoup {

// Returns an estimator, which the caller owns. `listener` must outlive it; it gets a bitrate of 0 to lift the limit.
// If Weir is off, this is mediasoup's own one, or null with transport-cc.
webrtc::RemoteBitrateEstimator* MakeRembServer(webrtc::RemoteBitrateEstimator::Listener* listener,
                                               SharedInterface* shared, const std::string& connection,
                                               bool transport_cc);

// With transport-cc: passes a packet, with or without abs-send-time. `server`, from MakeRembServer(), may be null.
void PassTo(webrtc::RemoteBitrateEstimator* server, int64_t now_us, const RTC::RTP::Packet& packet);
// True while Weir limits the sender, so that mediasoup must not send another REMB.
bool SendsRemb(const webrtc::RemoteBitrateEstimator* server);

struct RemoteEstimateBytes {
  alignas(4) std::array<uint8_t, WEIR_REMOTE_ESTIMATE_SIZE> bytes{};
};

// libwebrtc's RemoteEstimate (docs/remb.md), which goes with each REMB where there is transport-cc.
class RemoteEstimatePacket final : private RemoteEstimateBytes, public RTC::RTCP::Packet {
 public:
  // `bitrate_bps` is that of the REMB; 0 lifts the limit.
  explicit RemoteEstimatePacket(int64_t bitrate_bps);

  void Dump(int indentation) const override;
  size_t Serialize(uint8_t* buffer) override;
  size_t GetSize() const override { return bytes.size(); }
};

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_REMB_SERVER_H_
