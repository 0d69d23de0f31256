// Seeded random streams. Every source of randomness (loss, jitter, a flow's media) has its own stream, so that adding a
// flow or a draw changes nothing elsewhere. Generator and distributions are Weir's own because the distributions of
// standard libraries differ.
#ifndef WEIR_SIMULATOR_CORE_RANDOM_H_
#define WEIR_SIMULATOR_CORE_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <numbers>

namespace weir::sim {

// Stream numbers. A link uses the given number and the next; a flow has 16 numbers from kFlows + 16 * its index.
namespace random_streams {
inline constexpr uint64_t kForwardLink = 0;
inline constexpr uint64_t kReverseLink = 8;
inline constexpr uint64_t kFlows = 1024;
constexpr uint64_t Flow(uint64_t index) { return kFlows + 16 * index; }
}  // namespace random_streams

// xoshiro256++ (Blackman and Vigna), its state filled by SplitMix64 from seed and stream.
class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t stream) {
    uint64_t x = seed;
    uint64_t mixed = SplitMix(x) ^ (stream * 0xd1342543de82ef95ULL + 0x2545f4914f6cdd1dULL);
    for (uint64_t& word : state_) word = SplitMix(mixed);
  }

  uint64_t Next() {
    const uint64_t result = RotateLeft(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = RotateLeft(state_[3], 45);
    return result;
  }

  // In [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // In [low, high], both included.
  int64_t UniformInteger(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high - low) + 1;
    if (span == 0) return static_cast<int64_t>(Next());
    return low + static_cast<int64_t>((static_cast<unsigned __int128>(Next()) * span) >> 64);
  }
  bool Bernoulli(double probability) { return Uniform() < probability; }
  double Exponential(double mean) { return -mean * std::log1p(-Uniform()); }
  // Mean 0, standard deviation 1 (Box-Muller).
  double Gaussian() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
    const double angle = 2.0 * std::numbers::pi * Uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  static uint64_t SplitMix(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  static uint64_t RotateLeft(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

  uint64_t state_[4] = {};
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_RANDOM_H_
