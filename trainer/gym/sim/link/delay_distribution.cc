#include "link/delay_distribution.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace weir::sim {
namespace {

constexpr int64_t kFineBinNs = 10'000;
constexpr int64_t kCoarseBinNs = 1'000'000;
constexpr int64_t kFineLimitNs = 2'000'000'000;
constexpr int64_t kLimitNs = 400'000'000'000;
constexpr int64_t kFineBins = kFineLimitNs / kFineBinNs;

size_t BinOf(int64_t delay_ns) {
  if (delay_ns < kFineLimitNs) return static_cast<size_t>(std::max<int64_t>(0, delay_ns) / kFineBinNs);
  return static_cast<size_t>(kFineBins + (std::min(delay_ns, kLimitNs) - kFineLimitNs) / kCoarseBinNs);
}

int64_t MiddleNs(int64_t bin) {
  if (bin < kFineBins) return bin * kFineBinNs + kFineBinNs / 2;
  return kFineLimitNs + (bin - kFineBins) * kCoarseBinNs + kCoarseBinNs / 2;
}

}  // namespace

void DelayDistribution::Add(int64_t delay_ns) {
  const size_t bin = BinOf(delay_ns);
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  ++bins_[bin];
  ++count_;
  sum_ms_ += static_cast<double>(delay_ns) * 1e-6;
  max_ns_ = std::max(max_ns_, delay_ns);
}

DelaySummary DelayDistribution::Summary() const {
  return {.mean_ms = sum_ms_ / static_cast<double>(count_),
          .p5_ms = PercentileMs(5),
          .p50_ms = PercentileMs(50),
          .p95_ms = PercentileMs(95),
          .p99_ms = PercentileMs(99),
          .max_ms = static_cast<double>(max_ns_) * 1e-6};
}

double DelayDistribution::PercentileMs(int percent) const {
  const int64_t rank = std::max<int64_t>(1, (count_ * percent + 99) / 100);
  int64_t seen = 0;
  size_t bin = 0;
  while ((seen += bins_[bin]) < rank) ++bin;
  return static_cast<double>(std::min(MiddleNs(static_cast<int64_t>(bin)), max_ns_)) * 1e-6;
}

MeanAndP95 MeanAndP95Of(std::vector<int64_t>& delays_ns) {
  const int64_t sum = std::accumulate(delays_ns.begin(), delays_ns.end(), int64_t{0});
  const auto p95 = delays_ns.begin() + static_cast<std::ptrdiff_t>((delays_ns.size() * 95 + 99) / 100 - 1);
  std::nth_element(delays_ns.begin(), p95, delays_ns.end());
  return {.mean_ms = static_cast<double>(sum) / static_cast<double>(delays_ns.size()) * 1e-6,
          .p95_ms = static_cast<double>(*p95) * 1e-6};
}

}  // namespace weir::sim
