// Impairments of a link other than its queue: random loss, a policer, jitter.
#ifndef WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_
#define WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_

#include <cstdint>

#include "core/random.h"
#include "core/sim_time.h"
#include "scenario/scenario.h"

namespace weir::sim {

class LossModel {
 public:
  LossModel(const LossSpec& spec, RandomStream random);

  // True if a packet is lost that is sent `time` after the link's start.
  bool Loses(SimTime time);

 private:
  LossSpec spec_;
  RandomStream random_;
  // Gilbert-Elliott starts in the good state.
  bool bad_ = false;
};

// A token bucket with a committed information rate and a committed burst size (RFC 2697 section 3, without the excess
// bucket). It starts full and fills at `rate_bps` up to `burst_bytes`. A packet takes as many tokens as its IP packet
// has bytes; if there are fewer, it is dropped and takes none.
class Policer {
 public:
  // `rate_bps` in 1 to 10 Gbit/s, `burst_bytes` in 1 to 1e9.
  Policer(int64_t rate_bps, int64_t burst_bytes);

  // True if a packet conforms. Calls must be in the order of time.
  bool Conforms(SimTime now, uint32_t size_bytes);

 private:
  const int64_t rate_bps_;
  // In bit/s * ns, that is 1e-9 bits.
  const int64_t full_nanobits_;
  int64_t nanobits_;
  SimTime filled_ = kTimeZero;
};

class JitterModel {
 public:
  JitterModel(const JitterSpec& spec, RandomStream random);

  // Returns when a packet leaves the jittered part of the path if it would leave it at `time` without jitter. Calls
  // must be in the order of time. Results never decrease unless the model reorders.
  SimTime Delayed(SimTime time) { return spec_.kind == JitterSpec::Kind::kNone ? time : Jittered(time); }

 private:
  SimTime Jittered(SimTime time);
  SimTime Drawn(SimTime time);
  SimDuration UniformDelay(SimTime time);
  SimTime EndOfSlot(SimTime time) const;
  SimTime EndOfSpike(SimTime time);

  JitterSpec spec_;
  RandomStream random_;
  SimTime last_ = kTimeZero;
  // Slotted: an end of a slot, in [0, interval).
  SimDuration phase_ = SimDuration::Zero();
  // Uniform with an interval: the current delay, and until when it holds.
  SimDuration held_ = SimDuration::Zero();
  SimTime held_until_ = kTimeZero;
  // Spikes: the last one that has begun, or the next.
  SimTime spike_start_ = kTimeZero;
  SimTime spike_end_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_
