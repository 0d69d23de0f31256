// The guard's floor: what a rate may not sink below while the path shows no queue.
#ifndef WEIR_STARVATION_FLOOR_H_
#define WEIR_STARVATION_FLOOR_H_

#include <array>
#include <cstddef>

#include "weir/arrival/arrival.h"
#include "weir/arrival/delay_noise.h"
#include "weir/units.h"

namespace weir {

// There is no queue when a packet of the last 50 ms waited less than 2 ms and 1.5 times the delay noise, and of the
// packets of the last tenth of a second, or two, less than 10 % were lost. Such a path has room for what it just
// carried: of the rate in force, and of the highest receive rate of the last ten seconds, the smaller need not fall by
// more than 3 % in 100 ms. A policy that stays low on a noisy path for no reason is held up, one that probes for the
// right rate is not: below what was received, and downwards by small steps, it is free.
class StarvationFloor {
 public:
  void OnArrival(const Arrival& arrival);
  // The floor at `now` for a rate that was in force for `elapsed`; zero where there is a queue, or nothing arrives.
  // `now` must not be before that of an earlier call.
  DataRate Floor(DataRate rate, TimeDelta elapsed, Timestamp now);

 private:
  // A tenth of a second, and a second.
  static constexpr int kTicksASlot = 4;
  static constexpr int kSlotsASecond = 10;
  static constexpr size_t kSeconds = 10;

  void Advance(Timestamp now);
  void CloseSlot();
  bool NoQueue() const;

  struct Slot {
    TimeDelta smallest_delay = TimeDelta::PlusInfinity();
    int64_t received = 0;
    int64_t lost = 0;
  };

  // A tick is 25 ms; all counting begins with the first packet.
  Timestamp tick_start_ = Timestamp::MinusInfinity();
  int64_t ticks_ = 0;
  // Of the current tick and of the one before it.
  std::array<TimeDelta, 2> smallest_delays_ = {TimeDelta::PlusInfinity(), TimeDelta::PlusInfinity()};
  // The current slot and the one before it.
  std::array<Slot, 2> slots_;
  DelayNoise noise_;
  double noise_s_ = 0;
  DataSize second_size_ = DataSize::Zero();
  // Of the last seconds; there is no rate before the first is over.
  std::array<int64_t, kSeconds> receive_rates_bps_{};
  size_t second_ = 0;
};

}  // namespace weir

#endif  // WEIR_STARVATION_FLOOR_H_
