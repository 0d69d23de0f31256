// How far an unmodified sender follows REMB when packets are lost: libwebrtc's own SendSideBandwidthEstimation, as it
// works without transport feedback. Above 10 % of loss in a receiver report its limit falls by half of that share,
// below 2 % it rises by 8 % a second, and between them it stays. This header needs nothing of libwebrtc.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_LOSS_LIMIT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_LOSS_LIMIT_H_

#include <memory>

#include "sender/sender_controller.h"
#include "weir/units.h"

namespace weir::adapter {

class SenderLossLimit {
 public:
  // `start_rate`: what the sender was configured to begin with.
  SenderLossLimit(DataRate start_rate, DataRate min_rate, Timestamp now);
  ~SenderLossLimit();

  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update);
  void OnTransportLossReport(const TransportLossReport& report);

  // The sender's target is the smaller of this and REMB.
  DataRate rate() const;

 private:
  struct Libwebrtc;
  std::unique_ptr<Libwebrtc> libwebrtc_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_LOSS_LIMIT_H_
