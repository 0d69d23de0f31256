// A test whether packets of other flows are in a short queue.
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
// Pairs that take 4 ms together are one sample, since times of transport feedback have steps of 0.25 ms. Of up to 256
// samples of the last ten seconds, the quartile of the highest rates is compared with the mean rate: it is more than
// 10 % above it, or more than 5 % below if few samples are much faster, for a shared queue. Capacity that changes looks
// the same, but not a link that stops between slots: pairs apart by more than 20 ms do not count. Jitter looks the
// same, too, but its pairs have a mean rate that has nothing to do with the receive rate, which a queue limits to the
// share.
class QueueSharing {
 public:
  // A pair of packets during all of whose `gap` the link was busy, without a loss between them. `size` and
  // `queueing_delay` are those of the later one.
  void OnPair(TimeDelta gap, DataSize size, TimeDelta queueing_delay) {
    double& longest_s = longest_delays_s_[second_ % kSeconds];
    longest_s = std::max(longest_s, queueing_delay.seconds());
    if (gap > kLongestGap) return;
    pairs_gap_ += gap;
    pairs_size_ += size;
    if (pairs_gap_ < kSampleTime) return;
    samples_[next_] = {static_cast<float>(pairs_gap_.seconds()), static_cast<float>(8 * pairs_size_.bytes()), second_};
    next_ = (next_ + 1) % kSamples;
    pairs_gap_ = TimeDelta::Zero();
    pairs_size_ = DataSize::Zero();
  }

  // `delay_noise_s` is DelayNoise::Seconds(), `receive_rate` that of the last ten seconds.
  void EndSecond(double delay_noise_s, DataRate receive_rate) {
    const double longest_s = *std::ranges::max_element(longest_delays_s_);
    ++second_;
    longest_delays_s_[second_ % kSeconds] = 0;
    is_shared_ = longest_s <= kShortDelay.seconds() && RatesDiffer(delay_noise_s, receive_rate);
  }

  // True if the queue was short for ten seconds, and shared. False if there are fewer than 30 samples, or a delay noise
  // of their length.
  bool is_shared() const { return is_shared_; }

 private:
  static constexpr size_t kSamples = 256;
  static constexpr size_t kFewestSamples = 30;
  static constexpr uint32_t kSeconds = 10;
  static constexpr double kFaster = 1.1;
  static constexpr double kSlower = 0.95;
  // Pairs of frames that a sender paces at once may be faster than the receive rate, the more so the shorter they are.
  static constexpr double kMostOverReceiveRate = 1.5;
  static constexpr TimeDelta kSampleTime = TimeDelta::Millis(4);
  static constexpr TimeDelta kLongestGap = TimeDelta::Millis(20);
  // 20 packets at 4 Mbps.
  static constexpr TimeDelta kShortDelay = TimeDelta::Millis(60);

  struct Sample {
    float gap_s = 0;
    float bits = 0;
    uint32_t second = 0;
  };

  bool RatesDiffer(double delay_noise_s, DataRate receive_rate) const {
    std::array<float, kSamples> rates{};
    size_t count = 0;
    double gaps_s = 0, bits = 0;
    for (const Sample& sample : samples_) {
      if (sample.bits == 0 || second_ - sample.second > kSeconds) continue;
      rates[count++] = sample.bits / sample.gap_s;
      gaps_s += sample.gap_s;
      bits += sample.bits;
    }
    if (count < kFewestSamples || delay_noise_s * static_cast<double>(count) > gaps_s) return false;
    if (bits > kMostOverReceiveRate * static_cast<double>(receive_rate.bps()) * gaps_s) return false;
    const auto quartile = rates.begin() + static_cast<std::ptrdiff_t>(count / 4);
    std::nth_element(rates.begin(), quartile, rates.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
    const double ratio = *quartile * gaps_s / bits;
    return ratio > kFaster || ratio < kSlower;
  }

  // The pairs of the next sample.
  TimeDelta pairs_gap_ = TimeDelta::Zero();
  DataSize pairs_size_ = DataSize::Zero();
  std::array<Sample, kSamples> samples_;
  size_t next_ = 0;
  std::array<double, kSeconds> longest_delays_s_ = {};
  uint32_t second_ = 0;
  bool is_shared_ = false;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_QUEUE_SHARING_H_
