#include "link/impairments.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {

LossModel::LossModel(const LossSpec& spec, RandomStream random) : spec_(spec), random_(random) {}

bool LossModel::Loses(SimTime time) {
  switch (spec_.kind) {
    case LossSpec::Kind::kNone:
    case LossSpec::Kind::kPolicer:
      return false;
    case LossSpec::Kind::kBernoulli:
      return random_.Bernoulli(spec_.ratio.At(time));
    case LossSpec::Kind::kGilbertElliott: {
      const bool loses = random_.Bernoulli(bad_ ? spec_.loss_bad : spec_.loss_good);
      if (random_.Bernoulli(bad_ ? spec_.bad_to_good : spec_.good_to_bad)) bad_ = !bad_;
      return loses;
    }
  }
  return false;
}

namespace {

constexpr int64_t kNanobitsPerByte = 8'000'000'000;

// In [low, high], both included.
SimDuration UniformDuration(RandomStream& random, SimDuration low, SimDuration high) {
  return SimDuration::Nanos(random.UniformInteger(low.ns(), high.ns()));
}

}  // namespace

Policer::Policer(int64_t rate_bps, int64_t burst_bytes)
    : rate_bps_(rate_bps), full_nanobits_(burst_bytes * kNanobitsPerByte), nanobits_(full_nanobits_) {}

bool Policer::Conforms(SimTime now, uint32_t size_bytes) {
  const __int128 filled = nanobits_ + static_cast<__int128>(rate_bps_) * (now - filled_).ns();
  nanobits_ = static_cast<int64_t>(std::min<__int128>(filled, full_nanobits_));
  filled_ = now;
  const int64_t needed = int64_t{size_bytes} * kNanobitsPerByte;
  if (nanobits_ < needed) return false;
  nanobits_ -= needed;
  return true;
}

JitterModel::JitterModel(const JitterSpec& spec, RandomStream random) : spec_(spec), random_(random) {
  if (spec_.kind == JitterSpec::Kind::kSlotted)
    phase_ = UniformDuration(random_, SimDuration::Zero(), spec_.interval - SimDuration::Nanos(1));
}

SimTime JitterModel::Jittered(SimTime time) {
  SimTime delayed = Drawn(time);
  if (!spec_.reorder) delayed = std::max(delayed, last_);
  last_ = delayed;
  return delayed;
}

SimTime JitterModel::Drawn(SimTime time) {
  switch (spec_.kind) {
    case JitterSpec::Kind::kNone:
      break;
    case JitterSpec::Kind::kTruncatedGaussian: {
      const double jitter_ns = std::abs(random_.Gaussian()) * static_cast<double>(spec_.standard_deviation.ns());
      return time + SimDuration::Nanos(std::llround(std::min(jitter_ns, static_cast<double>(spec_.maximum.ns()))));
    }
    case JitterSpec::Kind::kUniform:
      return time + UniformDelay(time);
    case JitterSpec::Kind::kSlotted:
      return EndOfSlot(time);
    case JitterSpec::Kind::kSpikes:
      return EndOfSpike(time);
  }
  return time;
}

SimDuration JitterModel::UniformDelay(SimTime time) {
  if (spec_.interval.IsZero()) return UniformDuration(random_, SimDuration::Zero(), spec_.maximum);
  // Draws for each interval, even one without packets, so that delays do not depend on the traffic.
  for (; held_until_ <= time; held_until_ += spec_.interval) {
    held_ = UniformDuration(random_, SimDuration::Zero(), spec_.maximum);
  }
  return held_;
}

SimTime JitterModel::EndOfSlot(SimTime time) const {
  const SimTime shifted = time + spec_.interval - phase_;
  const SimDuration into_slot = SimDuration::Nanos(shifted.ns() % spec_.interval.ns());
  return into_slot.IsZero() ? time : time + spec_.interval - into_slot;
}

SimTime JitterModel::EndOfSpike(SimTime time) {
  // The first spike comes a gap after the start.
  while (spike_end_ <= time) {
    const int64_t gap_ns = std::llround(random_.Exponential(spec_.gap_mean_s) * 1e9) + 1;
    spike_start_ = spike_end_ + SimDuration::Nanos(gap_ns);
    spike_end_ = spike_start_ + UniformDuration(random_, spec_.shortest, spec_.longest);
  }
  return time < spike_start_ ? time : spike_end_;
}

}  // namespace weir::sim
