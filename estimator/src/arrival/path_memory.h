// Features that cover the last ten seconds of a path.
#ifndef WEIR_ARRIVAL_PATH_MEMORY_H_
#define WEIR_ARRIVAL_PATH_MEMORY_H_

#include <array>
#include <cstddef>

#include "arrival/queueing_delay.h"
#include "weir/interval_statistics.h"

namespace weir {

// Memory of the last ten seconds, for features that need more than a history of intervals.
class PathMemory {
 public:
  // Adds an interval and writes its fields about the path: delay_noise_s and those with _10s.
  void Add(IntervalStatistics& statistics);

 private:
  // Sums over about a second.
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

  // Clears everything but the noise at the end of an outage: its losses, and the delays of packets that waited in it,
  // do not describe the path afterwards. A pause of the sender loses nothing and is no outage.
  void ForgetOutage(const IntervalStatistics& statistics);
  // Writes the loss ratios of the half of the slots in which less was sent, and of the other half.
  void WriteLossByRate(IntervalStatistics& statistics) const;

  std::array<Slot, kSlots> slots_;
  size_t slot_ = 0;
  // Time without packets, and time left in which packets that waited in an outage may arrive.
  double silence_s_ = 0;
  double backlog_s_ = 0;
  // The smallest queueing delays of the last intervals with packets.
  DelayNoise noise_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_PATH_MEMORY_H_
