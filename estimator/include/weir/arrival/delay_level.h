// Tells a delay that the path has by itself from a queue: a queue drains when the rate falls.
#ifndef WEIR_ARRIVAL_DELAY_LEVEL_H_
#define WEIR_ARRIVAL_DELAY_LEVEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "weir/units.h"

namespace weir {

// What arrived in a stretch of time.
struct DelaySlot {
  // The smallest one-way delay, on the scale of the base delay: may be negative.
  TimeDelta minimum_delay = TimeDelta::PlusInfinity();
  // Of what was sent: with what was lost before the packets that arrived.
  DataSize size = DataSize::Zero();
  // Above 0 once the slot has ended.
  TimeDelta duration = TimeDelta::Zero();
  // Those that arrived with a send time.
  int64_t packets = 0;
};

// Over the last n slots, 5 <= n <= 30, the delay stands on a level above the base when the smallest delays are well
// above it and flat from the older half to the newer; and that level is the path's own when the rate fell so far below
// that of the first two slots, and for so long, that a queue as high as the level would have drained twice. Through a
// queue packets come at the link's rate until it is empty: a rate that falls by itself says that nothing waits. What
// is lost counts as sent, since a full queue loses what is above the link's rate. The same holds, for the rate that is
// to be found, for a queue that others keep full.
class DelayLevel {
 public:
  void Clear() { slots_ = 0; }
  void Add(const DelaySlot& slot);
  // The level that the slots stand on and that is no queue; nothing when there is none.
  std::optional<TimeDelta> Find(TimeDelta base) const;

 private:
  static constexpr size_t kFewestSlots = 5;
  static constexpr size_t kMostSlots = 30;

  const DelaySlot& Back(size_t age) const { return ring_[(slots_ - 1 - age) % kMostSlots]; }
  TimeDelta Median(size_t youngest, size_t count) const;

  std::array<DelaySlot, kMostSlots> ring_;
  size_t slots_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_DELAY_LEVEL_H_
