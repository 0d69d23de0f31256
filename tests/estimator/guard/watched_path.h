// A path as the guard's rules see it: a packet each 10 ms.
#ifndef WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_
#define WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_

#include <cmath>

#include "weir/arrival/arrival.h"
#include "weir/guard/queue_watch.h"
#include "weir/guard/receive_rate.h"
#include "weir/units.h"

namespace weir {

class WatchedPath {
 public:
  WatchedPath() { received.Start(now); }

  // 100 ms of what is left of `rate` when `loss_ratio` of it is lost; each packet waits for `delay`.
  void Pass(DataRate rate, double loss_ratio = 0, TimeDelta delay = TimeDelta::Zero()) {
    for (int i = 0; i < 10; ++i) {
      now += TimeDelta::Millis(10);
      lost_ += loss_ratio / (1 - loss_ratio);
      Arrival arrival;
      arrival.packet.arrival_time = now;
      arrival.packet.payload_size = static_cast<uint32_t>((rate * (1 - loss_ratio) * TimeDelta::Millis(10)).bytes());
      arrival.lost_change = static_cast<int32_t>(lost_);
      arrival.has_delay = true;
      arrival.queueing_delay = delay;
      lost_ -= std::floor(lost_);
      watch.OnArrival(arrival);
      received.OnPacket(arrival.packet.size());
    }
    received.Update(now);
    watch.Look(now);
  }

  Timestamp now = Timestamp::Seconds(7);
  QueueWatch watch;
  ReceiveRate received;

 private:
  double lost_ = 0;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_
