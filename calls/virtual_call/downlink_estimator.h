// The bandwidth estimator of an SFU's downlink to one subscriber.
#ifndef WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ESTIMATOR_H_
#define WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ESTIMATOR_H_

#include <memory>
#include <optional>
#include <span>

#include "endpoints/flow.h"
#include "virtual_call/virtual_clock.h"
#include "weir/network_types.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir::sim {

// The first target, that of mediasoup.
inline constexpr DataRate kDownlinkStartRate = DataRate::KilobitsPerSecond(600);

// Times are libwebrtc's in microseconds; sizes include IP and UDP. Calls in the order of time.
class DownlinkEstimator {
 public:
  virtual ~DownlinkEstimator() = default;

  virtual void OnSentPacket(const PacketDeparture& packet) = 0;
  virtual void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) = 0;
  virtual void OnRoundTripTime(TimeDelta round_trip_time, Timestamp now) = 0;
  // Called every 25 ms at most.
  virtual void OnTimeout(Timestamp now) = 0;
  // Called when the allocator's targets change.
  virtual void SetDesiredRate(const DesiredRate& desired, Timestamp now) = 0;
  // As SendSideEstimator::TakeProbeCluster().
  virtual std::optional<ProbeClusterConfig> TakeProbeCluster() = 0;
  virtual DataRate target_rate() const = 0;
};

// A SendSideEstimator. Throws ProgramError.
std::unique_ptr<DownlinkEstimator> MakeWeirDownlinkEstimator(const Flow& flow);
// libwebrtc's GoogCC with its periodic probes, bounded as mediasoup does: at most 1.35 times the desired rate, in steps
// of at least 10 %.
std::unique_ptr<DownlinkEstimator> MakeGccDownlinkEstimator(const VirtualClock* clock);

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ESTIMATOR_H_
