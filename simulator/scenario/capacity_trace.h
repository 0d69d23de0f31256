// The capacity of a link over time: piecewise constant, optionally periodic. All arithmetic is exact, in integers of ns
// and bit/s.
#ifndef WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_
#define WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/piecewise_constant.h"
#include "core/sim_time.h"

namespace weir::sim {

// Keeps the bits of any duration within 64 bits.
inline constexpr double kMaxRateBps = 1e10;

class CapacityTrace : private PiecewiseConstant<int64_t> {
 public:
  // As in PiecewiseConstant, with rates from 0 to kMaxRateBps.
  CapacityTrace(std::vector<SimTime> start_times, std::vector<int64_t> rates_bps,
                std::optional<SimDuration> period = std::nullopt);

  // Times must be >= 0. Each function is fast if times advance from call to call.
  int64_t RateAt(SimTime time) const { return At(time); }
  // Bits that the link carries from `from` to `to`; rounded down to whole bits.
  int64_t BitsBetween(SimTime from, SimTime to) const;
  // Calls visit(rate_bps, duration) for every segment of constant rate from `from` to `to`, in order.
  template <class Visitor>
  void ForEachRate(SimTime from, SimTime to, Visitor&& visit) const {
    if (from >= to) return;
    int64_t segments = 0;
    for (Position position = Find(from);; Advance(position), ++segments) {
      const SimTime end = std::min(SegmentEnd(position), to);
      visit(values_[position.index], end - from);
      if (end == to) break;
      from = end;
    }
    CountWalk(segments);
  }
  // When the last of `bits` has left if the first starts at `start`: the first ns at which the integral of the rate
  // has reached `bits`. Returns nullopt if the capacity never suffices.
  std::optional<SimTime> TransmissionEnd(SimTime start, int64_t bits) const;
  // The mean over one period or, without a period, over `duration` (> 0).
  double MeanRateBps(SimDuration duration) const;

  // The same trace, `delay` (>= 0) later. Before that it has its first rate or, with a period, earlier periods.
  CapacityTrace Delayed(SimDuration delay) const;

  std::optional<SimDuration> period() const { return period_; }

 private:
  // Counts the work: a trace may have millions of segments per millisecond, which each packet walks through.
  static void CountWalk(int64_t segments);

  // In bit/s * ns, that is 1e-9 bits.
  __int128 nanobits_per_period_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_
