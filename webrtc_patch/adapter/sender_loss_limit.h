// Limits how far an unmodified sender follows REMB under loss: libwebrtc's own SendSideBandwidthEstimation without
// transport feedback. Above 10 % loss in a receiver report the limit drops by half of the loss ratio, below 2 % it
// rises by 8 % per second, and in between it stays. This header does not include libwebrtc.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_LOSS_LIMIT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_LOSS_LIMIT_H_

#include <memory>

#include "weir/sender_controller.h"
#include "weir/units.h"

namespace weir::adapter {

class SenderLossLimit {
 public:
  // `start_rate` is the start rate that the sender is configured with.
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
