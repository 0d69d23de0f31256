// Helpers shared by several benchmarks.
#ifndef WEIR_TESTS_BENCH_BENCHMARKS_H_
#define WEIR_TESTS_BENCH_BENCHMARKS_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "read_file.h"

namespace weir {

// The model in the repository; empty if the file cannot be read.
inline std::vector<std::byte> ShippedModel() { return ReadFile(WEIR_SHIPPED_MODEL); }

inline double CpuSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Reorders `values`, which must not be empty.
inline double Quantile(std::vector<double>& values, double ratio) {
  const auto nth = values.begin() + static_cast<int64_t>(ratio * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, nth);
  return *nth;
}

// Measures single calls and reports their durations as counters p50_us and p99_us.
class Durations {
 public:
  // Times one call of `function`.
  template <class Function>
  void Measure(Function function) {
    const auto begin = std::chrono::steady_clock::now();
    function();
    const auto end = std::chrono::steady_clock::now();
    us_.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  void Reserve(size_t calls) { us_.reserve(calls); }
  void Report(benchmark::State& state) {
    state.counters["p50_us"] = Quantile(us_, 0.5);
    state.counters["p99_us"] = Quantile(us_, 0.99);
  }

 private:
  std::vector<double> us_;
};

}  // namespace weir

#endif  // WEIR_TESTS_BENCH_BENCHMARKS_H_
