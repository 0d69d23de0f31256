// Who watches a flow: the recorder of `run`, the step statistics of `serve`.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_FLOW_OBSERVER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_FLOW_OBSERVER_H_

#include <cstdint>

#include "link/packet.h"
#include "weir/units.h"

namespace weir::sim {

// Sizes are those of whole IP packets. The defaults ignore the event.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;

  virtual void OnSent(const Packet&) {}
  // Invoked in the order of arrival; for RTP it may be some time after `arrival_time_ns`, never before it.
  virtual void OnReceived(const Packet&, int64_t /*arrival_time_ns*/) {}
  virtual void OnDropped(const Packet&) {}
  virtual void OnTargetRate(DataRate, int64_t /*time_ns*/) {}
  // REMB or transport feedback; not called for other RTCP.
  virtual void OnFeedbackSent(int64_t /*time_ns*/) {}
  // The kind of path that the receiver's estimator had detected when it sent feedback.
  virtual void OnPathKind(int /*path_kind*/, int64_t /*time_ns*/) {}
  // Payload that a TCP sender has sent and not seen acknowledged or lost, when it changes.
  virtual void OnBytesInFlight(int64_t /*bytes*/, int64_t /*time_ns*/) {}
  // Payload that a TCP receiver hands to its application, in order.
  virtual void OnDelivered(int64_t /*bytes*/, int64_t /*time_ns*/) {}
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_FLOW_OBSERVER_H_
