// Sums over the arrivals of the last intervals of a controller.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_RECENT_INTERVALS_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_RECENT_INTERVALS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Sums over the packets of one or several intervals.
struct IntervalSums {
  TimeDelta duration = TimeDelta::Zero();
  DataSize size = DataSize::Zero();
  int64_t packets = 0;
  // Late arrivals count against losses.
  int64_t lost = 0;
  TimeDelta min_queueing_delay = TimeDelta::PlusInfinity();
  TimeDelta max_queueing_delay = TimeDelta::Zero();

  void Add(const IntervalSums& other) {
    duration += other.duration;
    size += other.size;
    packets += other.packets;
    lost += other.lost;
    min_queueing_delay = std::min(min_queueing_delay, other.min_queueing_delay);
    max_queueing_delay = std::max(max_queueing_delay, other.max_queueing_delay);
  }
  DataRate ReceiveRate() const { return duration > TimeDelta::Zero() ? size / duration : DataRate::Zero(); }
};

// The arrivals of the last kCount intervals.
template <size_t kCount>
class RecentIntervals {
 public:
  void OnArrival(const Arrival& arrival) {
    ring_[present_].Add({.size = arrival.packet.size(),
                         .packets = 1,
                         .lost = arrival.lost_change,
                         .min_queueing_delay = arrival.queueing_delay,
                         .max_queueing_delay = arrival.queueing_delay});
  }

  // True if the present interval has no packets yet.
  bool is_empty() const { return ring_[present_].packets == 0; }

  struct Ended {
    IntervalSums latest;
    IntervalSums all;
  };
  // Ends the present interval and begins the next.
  Ended End(TimeDelta duration) {
    ring_[present_].duration = duration;
    Ended ended{.latest = ring_[present_], .all = {}};
    for (const IntervalSums& one : ring_) ended.all.Add(one);
    present_ = (present_ + 1) % kCount;
    ring_[present_] = {};
    return ended;
  }

 private:
  std::array<IntervalSums, kCount> ring_;
  size_t present_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_RECENT_INTERVALS_H_
