// The first seconds of a call, for the guard.
#ifndef WEIR_GUARD_START_PHASE_H_
#define WEIR_GUARD_START_PHASE_H_

#include "weir/guard/queue_watch.h"
#include "weir/units.h"

namespace weir {

// Until there was a queue, for 3 s from the first packet on at most, while packets tell that there is none and the rate
// in force is above 1.3 times what arrives: encoders follow in seconds, and a target that waits for them takes as long.
class StartPhase {
 public:
  // To be called at each decision. `first_packet` is MinusInfinity before it.
  bool Look(QueueSign sign, Timestamp first_packet, Timestamp now, DataRate rate, DataRate receive_rate) {
    no_queue_yet_ = no_queue_yet_ && sign != QueueSign::kQueue;
    return no_queue_yet_ && now - first_packet < kLongest && sign == QueueSign::kNone && rate > receive_rate * kFilled;
  }

 private:
  static constexpr TimeDelta kLongest = TimeDelta::Seconds(3);
  static constexpr double kFilled = 1.3;

  bool no_queue_yet_ = true;
};

}  // namespace weir

#endif  // WEIR_GUARD_START_PHASE_H_
