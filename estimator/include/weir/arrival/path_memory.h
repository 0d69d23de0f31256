// What kind of path this is, from the last ten seconds: what a history of intervals is too short to show.
#ifndef WEIR_ARRIVAL_PATH_MEMORY_H_
#define WEIR_ARRIVAL_PATH_MEMORY_H_

#include <array>
#include <cstddef>

#include "weir/arrival/delay_noise.h"
#include "weir/arrival/interval_statistics.h"

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

  // What was lost in an outage, and the delay of what waited in it, say nothing of the path that is there again: with
  // its end all is forgotten but the noise. A pause of the sender loses nothing, and is none.
  void ForgetOutage(const IntervalStatistics& statistics);
  // Of the slots in which less was sent than in the others, and of those.
  void WriteLossByRate(IntervalStatistics& statistics) const;

  std::array<Slot, kSlots> slots_;
  size_t slot_ = 0;
  // How long nothing has come, and how long what had waited in an outage may come yet.
  double silence_s_ = 0;
  double backlog_s_ = 0;
  // The smallest queueing delays of the last intervals in which packets came.
  DelayNoise noise_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_PATH_MEMORY_H_
