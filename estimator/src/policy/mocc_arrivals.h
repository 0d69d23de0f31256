// The arrivals that a sender's status stands for, for the guard, which reads packets.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MOCC_ARRIVALS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MOCC_ARRIVALS_H_

#include "arrival/arrival_history.h"
#include "weir/interval_statistics.h"
#include "weir/units.h"

namespace weir {

class MoccArrivals {
 public:
  // Adds the packets of an interval that ends at `now`: evenly spaced, of one size, with losses evenly among them, and
  // with queueing delays on the line that has the mean and the gradient of `statistics`, between its smallest and its
  // largest delay. At most kMostPackets, each of which then stands for several.
  void AddTo(ArrivalHistory& arrivals, const IntervalStatistics& statistics, TimeDelta interval, Timestamp now);

 private:
  // 100 Mbps in intervals of 100 ms.
  static constexpr double kMostPackets = 1024;

  // Fraction of a lost packet, carried into the next interval.
  double lost_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MOCC_ARRIVALS_H_
