#include "link/impairments.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {

LossModel::LossModel(const LossSpec& spec, RandomStream random) : spec_(spec), random_(random) {}

bool LossModel::Loses(int64_t time_ns) {
  switch (spec_.kind) {
    case LossSpec::Kind::kNone:
    case LossSpec::Kind::kPolicer:
      return false;
    case LossSpec::Kind::kBernoulli:
      return random_.Bernoulli(spec_.ratio.At(time_ns));
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

}  // namespace

Policer::Policer(int64_t rate_bps, int64_t burst_bytes)
    : rate_bps_(rate_bps), full_nanobits_(burst_bytes * kNanobitsPerByte), nanobits_(full_nanobits_) {}

bool Policer::Conforms(int64_t now_ns, uint32_t size_bytes) {
  const __int128 filled = nanobits_ + static_cast<__int128>(rate_bps_) * (now_ns - filled_ns_);
  nanobits_ = static_cast<int64_t>(std::min<__int128>(filled, full_nanobits_));
  filled_ns_ = now_ns;
  const int64_t needed = int64_t{size_bytes} * kNanobitsPerByte;
  if (nanobits_ < needed) return false;
  nanobits_ -= needed;
  return true;
}

JitterModel::JitterModel(const JitterSpec& spec, RandomStream random) : spec_(spec), random_(random) {
  if (spec_.kind == JitterSpec::Kind::kSlotted) phase_ns_ = random_.UniformInteger(0, spec_.interval_ns - 1);
}

int64_t JitterModel::Jittered(int64_t time_ns) {
  int64_t delayed_ns = Drawn(time_ns);
  if (!spec_.reorder) delayed_ns = std::max(delayed_ns, last_ns_);
  last_ns_ = delayed_ns;
  return delayed_ns;
}

int64_t JitterModel::Drawn(int64_t time_ns) {
  switch (spec_.kind) {
    case JitterSpec::Kind::kNone:
      break;
    case JitterSpec::Kind::kTruncatedGaussian: {
      const double jitter_ns = std::abs(random_.Gaussian()) * static_cast<double>(spec_.standard_deviation_ns);
      return time_ns + std::llround(std::min(jitter_ns, static_cast<double>(spec_.maximum_ns)));
    }
    case JitterSpec::Kind::kUniform:
      return time_ns + UniformNs(time_ns);
    case JitterSpec::Kind::kSlotted:
      return EndOfSlot(time_ns);
    case JitterSpec::Kind::kSpikes:
      return EndOfSpike(time_ns);
  }
  return time_ns;
}

int64_t JitterModel::UniformNs(int64_t time_ns) {
  if (spec_.interval_ns == 0) return random_.UniformInteger(0, spec_.maximum_ns);
  // Draws for each interval, even one without packets, so that delays do not depend on the traffic.
  for (; held_until_ns_ <= time_ns; held_until_ns_ += spec_.interval_ns) {
    held_ns_ = random_.UniformInteger(0, spec_.maximum_ns);
  }
  return held_ns_;
}

int64_t JitterModel::EndOfSlot(int64_t time_ns) const {
  const int64_t into_slot_ns = (time_ns + spec_.interval_ns - phase_ns_) % spec_.interval_ns;
  return into_slot_ns == 0 ? time_ns : time_ns + spec_.interval_ns - into_slot_ns;
}

int64_t JitterModel::EndOfSpike(int64_t time_ns) {
  // The first spike comes a gap after the start.
  while (spike_end_ns_ <= time_ns) {
    spike_start_ns_ = spike_end_ns_ + std::llround(random_.Exponential(spec_.gap_mean_s) * 1e9) + 1;
    spike_end_ns_ = spike_start_ns_ + random_.UniformInteger(spec_.shortest_ns, spec_.longest_ns);
  }
  return time_ns < spike_start_ns_ ? time_ns : spike_end_ns_;
}

}  // namespace weir::sim
