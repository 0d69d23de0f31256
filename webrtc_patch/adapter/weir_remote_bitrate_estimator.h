// Adapts weir::BandwidthEstimator to libwebrtc's RemoteBitrateEstimator.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_WEIR_REMOTE_BITRATE_ESTIMATOR_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_WEIR_REMOTE_BITRATE_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrival_clock.h"
#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "receive_side_settings.h"
#include "remb_outlet.h"
#include "system_wrappers/include/clock.h"
#include "weir/bandwidth_estimator.h"
#include "weir/remb_sender.h"
#include "weir/repair_monitor.h"
#include "weir/repair_policy.h"

namespace weir::adapter {

// True if transport-cc feedback reports the packet, so that the sender counts it with UDP, IP and SRTP (docs/remb.md).
bool IsReported(const webrtc::RtpPacketReceived& packet);

// Runs Weir in one call; as the interface requires, never called concurrently. `Process`, which returns the time until
// the next decision, and `IncomingPacket` make due decisions. So it decides in a blackout, and a late timer does not
// delay it while packets arrive.
class WeirRemoteBitrateEstimator final : public webrtc::RemoteBitrateEstimator {
 public:
  // `outlet` and `clock` must outlive this. Starts at `start_rate`, clamped to the settings' bounds. Sends nothing
  // before SetInCharge(true).
  WeirRemoteBitrateEstimator(const ReceiveSideSettings& settings, DataRate start_rate, RembOutlet* outlet,
                             webrtc::Clock* clock);

  // Applies objective, constraints, packet kinds, controller and pool.
  void ApplySettings(const ReceiveSideSettings& settings);
  // While in charge, estimates are sent as REMB, the latest one at once.
  void SetInCharge(bool in_charge);
  void RepeatRemb();
  // While in charge: BandwidthEstimator::OmitsLosses().
  bool OmitsLosses() const { return in_charge_ && estimator_.OmitsLosses(); }

  void IncomingPacket(const webrtc::RtpPacketReceived& received) override;
  void RemoveStream(uint32_t ssrc) override;
  webrtc::DataRate LatestEstimate() const override;
  webrtc::TimeDelta Process() override;
  void OnRttUpdate(int64_t avg_rtt_ms, int64_t max_rtt_ms) override;

 private:
  void ConfigurePool(const ReceiveSideSettings& settings);
  void Advance(Timestamp now);
  void Report(Timestamp now);
  Timestamp NextTimeout() const;
  void Send(const Remb& remb);
  PacketKind Kind(const webrtc::RtpPacketReceived& received) const;
  Repair ChooseRepair(Timestamp now);
  void FollowRepair(const webrtc::RtpPacketReceived& received, Timestamp now);
  bool started() const { return estimator_.latest().at_time.IsFinite(); }
  Timestamp now() const { return Timestamp::Micros(clock_->TimeInMicroseconds()); }

  RembOutlet* const outlet_;
  webrtc::Clock* const clock_;

  BandwidthEstimator estimator_;
  RembSender remb_sender_;
  RepairMonitor repair_monitor_;
  RepairPolicy repair_policy_;
  ArrivalClock arrival_clock_;

  // State at the last decision that `on_decision` received, or at the start.
  struct Reported {
    Timestamp at_time = Timestamp::MinusInfinity();
    ArrivalTotals totals;
    DataRate target_rate = DataRate::Zero();
  };
  Reported reported_;
  // A decision was made since then.
  bool decided_ = false;

  ReceiveSideSettings settings_;
  bool in_charge_ = false;
  bool any_packet_ = false;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_WEIR_REMOTE_BITRATE_ESTIMATOR_H_
