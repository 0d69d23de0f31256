// Congestion state of the path, for hosts that select layers. The states are LiveKit's.
#ifndef WEIR_ARRIVAL_CONGESTION_MONITOR_H_
#define WEIR_ARRIVAL_CONGESTION_MONITOR_H_

#include "arrival/arrival_history.h"
#include "weir/network_types.h"

namespace weir {

// A queue counts if every packet of the last 100 to 200 ms waited in it for longer than jitter explains, and there was
// one in the last 25 to 50 ms. In a shorter time there may be only the end of a frame, which a host without a pacer
// sends at once.
//
//   kNormal --> kEarlyWarning   a queue of 15 ms for 100 ms
//   any     --> kCongested      a queue of 30 ms for 200 ms, or losses that the path does not always have (10 % of the
//                               last second more than the lowest of ten), or no packet for 500 ms that were due
//   any     --> kNormal         none of these for 500 ms, or a probe cluster that was carried after a pause
class CongestionMonitor {
 public:
  // Called after ArrivalHistory::OnDecision. `target` is in force from now on.
  void OnDecision(const ArrivalHistory& arrivals, Timestamp now, DataRate target);

  void OnProbeAfterPause(Timestamp now, DataRate rate);

  const NetworkState& state() const { return state_; }

 private:
  void Enter(CongestionState state, Timestamp now, DataRate capacity);

  NetworkState state_;
  // Time since which there is a queue of 15 ms, a queue of 30 ms, and neither queue nor loss. Infinite if it is not so.
  Timestamp queue_since_ = Timestamp::PlusInfinity();
  Timestamp long_queue_since_ = Timestamp::PlusInfinity();
  Timestamp clear_since_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_CONGESTION_MONITOR_H_
