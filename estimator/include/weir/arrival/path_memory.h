// What kind of path this is, from the last ten seconds: what a history of intervals is too short to show.
#ifndef WEIR_ARRIVAL_PATH_MEMORY_H_
#define WEIR_ARRIVAL_PATH_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/arrival/interval_statistics.h"
#include "weir/arrival/sliding_median.h"

namespace weir {

class PathMemory {
 public:
  // Takes in an interval and writes the fields about more than it: delay_noise_s and those that end in _10s.
  void Add(IntervalStatistics& statistics);

 private:
  // About a second.
  struct Slot {
    double duration_s = 0;
    double bytes = 0;
    double received = 0;
    double lost = 0;
    double received_at_short_queue = 0;
    double lost_at_short_queue = 0;
    double queue_min_s = 0;
    double queue_max_s = 0;
    bool has_delay = false;
  };
  static constexpr size_t kSlots = 10;
  // Second differences of that many delays.
  static constexpr size_t kDelays = 32;

  void AddDelay(double delay_s);
  // Of the slots in which less was sent than in the others, and of those.
  void WriteLossByRate(IntervalStatistics& statistics) const;

  std::array<Slot, kSlots> slots_;
  size_t slot_ = 0;
  // Of the smallest queueing delays of the intervals in which packets came: the last two, and how far the last of them
  // bend.
  double last_delay_s_ = 0;
  double delay_before_s_ = 0;
  size_t delays_ = 0;
  SlidingMedian<kDelays - 2> bends_s_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_PATH_MEMORY_H_
