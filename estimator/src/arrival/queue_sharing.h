// A test whether packets of other flows are in the queue.
#ifndef WEIR_ARRIVAL_QUEUE_SHARING_H_
#define WEIR_ARRIVAL_QUEUE_SHARING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "weir/units.h"

namespace weir {

// While a link is busy and no flow but this one uses it, each packet arrives the time of its own transmission after the
// packet before it, so that all pairs of packets show the same rate: the capacity. If other flows use it, some pairs
// are apart by the packets of others: the rates of pairs differ, and their mean is the share.
//
// Of up to 256 pairs of the last ten seconds, the quartile of the highest rates is compared with the mean rate: it is
// more than 10 % above it, or more than 5 % below if few pairs are much faster, for a shared queue. Capacity that
// changes looks the same.
class QueueSharing {
 public:
  enum class Result {
    kUnknown,  // fewer than 30 pairs, or a delay noise of the size of the gaps between them
    kAlone,
    kShared,
  };

  // A pair of packets during all of whose `gap` the link was busy, without a loss between them. `size` is that of the
  // later one.
  void OnPair(TimeDelta gap, DataSize size) {
    Pair& pair = pairs_[next_];
    next_ = (next_ + 1) % kPairs;
    pair.gap_s = static_cast<float>(std::max(gap, kShortestGap).seconds());
    pair.bits = static_cast<float>(8 * size.bytes());
    pair.second = second_;
  }

  // `delay_noise_s` is DelayNoise::Seconds().
  void EndSecond(double delay_noise_s) {
    ++second_;
    std::array<float, kPairs> rates;
    size_t count = 0;
    double gaps_s = 0, bits = 0;
    for (const Pair& pair : pairs_) {
      if (pair.bits == 0 || second_ - pair.second > kSeconds) continue;
      rates[count++] = pair.bits / pair.gap_s;
      gaps_s += pair.gap_s;
      bits += pair.bits;
    }
    result_ = Result::kUnknown;
    if (count < kFewestPairs || delay_noise_s * static_cast<double>(count) > gaps_s) return;
    const auto quartile = rates.begin() + static_cast<std::ptrdiff_t>(count / 4);
    std::nth_element(rates.begin(), quartile, rates.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
    const double ratio = *quartile * gaps_s / bits;
    result_ = ratio > kFaster || ratio < kSlower ? Result::kShared : Result::kAlone;
  }

  Result result() const { return result_; }

 private:
  static constexpr size_t kPairs = 256;
  static constexpr size_t kFewestPairs = 30;
  static constexpr uint32_t kSeconds = 10;
  static constexpr double kFaster = 1.1;
  static constexpr double kSlower = 0.95;
  // Timestamps of packets in one burst may be equal.
  static constexpr TimeDelta kShortestGap = TimeDelta::Micros(10);

  struct Pair {
    float gap_s = 0;
    float bits = 0;
    uint32_t second = 0;
  };

  std::array<Pair, kPairs> pairs_;
  size_t next_ = 0;
  uint32_t second_ = 0;
  Result result_ = Result::kUnknown;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_QUEUE_SHARING_H_
