// What a host shows of what it receives: sums since the beginning, in the manner of W3C's webrtc-stats, for whoever
// asks now and then, and what the last second was like.
#ifndef WEIR_RECEIVE_STATISTICS_H_
#define WEIR_RECEIVE_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/arrival/arrival.h"
#include "weir/units.h"

namespace weir {

class ReceiveStatistics {
 public:
  struct Sums {
    int64_t packets = 0;
    DataSize size = DataSize::Zero();
    // As Arrival::lost_change adds up: a late packet takes one back, so that it can fall, also below 0.
    int64_t packets_lost = 0;
    // Of the packets that had a send time, and how many these are.
    TimeDelta queueing_delay = TimeDelta::Zero();
    int64_t packets_with_delay = 0;

    Sums& operator+=(const Sums& other);
  };

  void OnArrival(const Arrival& arrival);

  const Sums& total() const { return total_; }

  struct LastSecond {
    DataRate receive_rate = DataRate::Zero();
    // The mean; zero where nothing had a send time.
    TimeDelta queueing_delay = TimeDelta::Zero();
    // 0 to 1.
    double loss_ratio = 0;
  };
  // Of the 0.9 to 1 s before `now`.
  LastSecond Look(Timestamp now) const;

 private:
  static constexpr TimeDelta kSlot = TimeDelta::Millis(100);
  static constexpr size_t kSlots = 10;

  struct Slot {
    // Counts the slots of the clock; of what lies in it.
    int64_t number = 0;
    Sums sums;
  };
  static int64_t SlotNumber(Timestamp time);

  Sums total_;
  // By their number; the oldest is overwritten.
  std::array<Slot, kSlots> slots_{};
};

}  // namespace weir

#endif  // WEIR_RECEIVE_STATISTICS_H_
