// Converts units and messages between weir and libwebrtc. libwebrtc's Debian build has its debug checks on and aborts
// on unexpected values, so these functions make whatever a host passes in acceptable.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_CONVERSIONS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_CONVERSIONS_H_

#include <optional>

#include "api/transport/network_types.h"
#include "api/units/data_rate.h"
#include "api/units/data_size.h"
#include "api/units/time_delta.h"
#include "api/units/timestamp.h"
#include "weir/sender_controller.h"
#include "weir/units.h"

namespace weir::adapter {

webrtc::TimeDelta ToWebrtc(TimeDelta delta);
webrtc::DataRate ToWebrtc(DataRate rate);
webrtc::DataSize ToWebrtc(DataSize size);
DataSize FromWebrtc(webrtc::DataSize size);
TimeDelta FromWebrtc(webrtc::TimeDelta delta);
DataRate FromWebrtc(webrtc::DataRate rate);

// Shifts the host's clock so that `origin` falls well after libwebrtc's time 0. libwebrtc uses time 0 for "long ago"
// and allows no negative times; a host's clock may start anywhere.
class TimeConverter {
 public:
  explicit TimeConverter(Timestamp origin) : origin_(origin) {}

  webrtc::Timestamp ToWebrtc(Timestamp time) const;
  Timestamp FromWebrtc(webrtc::Timestamp time) const;

  webrtc::SentPacket ToWebrtc(const SentPacket& packet) const;
  // Skips packets without a send time: they were never sent.
  webrtc::TransportPacketsFeedback ToWebrtc(const TransportPacketsFeedback& feedback) const;
  // Returns nullopt for a report without a received packet, which libwebrtc's own transport withholds from controllers.
  std::optional<webrtc::TransportLossReport> ToWebrtc(const TransportLossReport& report) const;
  // Returns nullopt unless the round-trip time is finite and positive.
  std::optional<webrtc::RoundTripTimeUpdate> ToWebrtc(const RoundTripTimeUpdate& update) const;

  TargetTransferRate FromWebrtc(const webrtc::TargetTransferRate& target) const;
  PacerConfig FromWebrtc(const webrtc::PacerConfig& config) const;
  ProbeClusterConfig FromWebrtc(const webrtc::ProbeClusterConfig& config) const;

 private:
  const Timestamp origin_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_CONVERSIONS_H_
