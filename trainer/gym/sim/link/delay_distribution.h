// The one-way delays of a flow in bounded memory, however long it lasts.
#ifndef WEIR_TRAINER_GYM_SIM_LINK_DELAY_DISTRIBUTION_H_
#define WEIR_TRAINER_GYM_SIM_LINK_DELAY_DISTRIBUTION_H_

#include <cstdint>
#include <vector>

namespace weir::sim {

struct DelaySummary {
  double mean_ms = 0;
  double p5_ms = 0;
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
};

// Counts delays in bins of 10 us up to 2 s and of 1 ms beyond; all from 400 s on share one bin. Never more than 2.4 MB.
class DelayDistribution {
 public:
  void Add(int64_t delay_ns);
  bool empty() const { return count_ == 0; }
  // Mean and maximum are exact; percentiles are nearest-rank, within half a bin. Must not be empty.
  DelaySummary Summary() const;

 private:
  double PercentileMs(int percent) const;

  std::vector<uint32_t> bins_;
  int64_t count_ = 0;
  double sum_ms_ = 0;
  int64_t max_ns_ = 0;
};

struct MeanAndP95 {
  double mean_ms = 0;
  double p95_ms = 0;
};

// Exact, over the delays of a short interval; the percentile is nearest-rank. Reorders `delays_ns`, which must not be
// empty.
MeanAndP95 MeanAndP95Of(std::vector<int64_t>& delays_ns);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_DELAY_DISTRIBUTION_H_
