// Corrections of a policy's inputs by what the guard and the arrivals show.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_INPUTS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_INPUTS_H_

#include <algorithm>

#include "weir/interval_statistics.h"
#include "weir/objective.h"

namespace weir {

// A policy sees at most 5 % of the loss that the path has at any rate. At more it would hold a lower rate, as it has
// learned to do when a queue is full, and that does not end this loss.
inline IntervalStatistics WithLessLossAtAnyRate(IntervalStatistics statistics, double loss_ratio_at_any_rate) {
  constexpr double kMostSeen = 0.05;
  const double excess = std::min({loss_ratio_at_any_rate, statistics.loss_ratio_slow_10s,
                                  statistics.loss_ratio_fast_10s, statistics.loss_at_short_queue_10s}) -
                        kMostSeen;
  if (excess <= 0) return statistics;
  for (double* const ratio : {&statistics.loss_ratio, &statistics.loss_ratio_slow_10s, &statistics.loss_ratio_fast_10s,
                              &statistics.loss_at_short_queue_10s}) {
    *ratio = std::max(*ratio - excess, 0.0);
  }
  return statistics;
}

// The objective for a path with a queue to yield (`ArrivalHistory::HasQueueToYield`). A queue of a few packets has no
// delay that a policy could see, and it drops packets of all flows. Where packets are lost at any rate, GCC loses its
// rate to a policy that keeps a short queue filled. A policy that prefers throughput to the same degree there as
// elsewhere leaves flows in competition a third to a half of what GCC leaves them. Half of the weight of throughput
// goes to latency.
inline Objective Yielding(const Objective& objective) {
  constexpr float kKept = 0.5f;
  return {objective.throughput * kKept, objective.latency + objective.throughput * (1 - kKept), objective.loss};
}

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_INPUTS_H_
