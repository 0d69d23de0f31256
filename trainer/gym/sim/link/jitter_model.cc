#include "link/jitter_model.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {

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
  // A draw for each interval, whether or not a packet comes in it: alike for whatever uses the link.
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
  // The first comes a gap after the start.
  while (spike_end_ns_ <= time_ns) {
    spike_start_ns_ = spike_end_ns_ + std::llround(random_.Exponential(spec_.gap_mean_s) * 1e9) + 1;
    spike_end_ns_ = spike_start_ns_ + random_.UniformInteger(spec_.shortest_ns, spec_.longest_ns);
  }
  return time_ns < spike_start_ns_ ? time_ns : spike_end_ns_;
}

}  // namespace weir::sim
