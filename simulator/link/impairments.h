// Impairments of a link other than its queue: random loss, a policer, jitter.
#ifndef WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_
#define WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_

#include <cstdint>

#include "core/random.h"
#include "scenario/scenario.h"

namespace weir::sim {

class LossModel {
 public:
  LossModel(const LossSpec& spec, RandomStream random);

  // True if a packet is lost that is sent `time_ns` after the link's start.
  bool Loses(int64_t time_ns);

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
  bool Conforms(int64_t now_ns, uint32_t size_bytes);

 private:
  const int64_t rate_bps_;
  // In bit/s * ns, that is 1e-9 bits.
  const int64_t full_nanobits_;
  int64_t nanobits_;
  int64_t filled_ns_ = 0;
};

class JitterModel {
 public:
  JitterModel(const JitterSpec& spec, RandomStream random);

  // Returns when a packet leaves the jittered part of the path if it would leave it at `time_ns` without jitter. Calls
  // must be in the order of time. Results never decrease unless the model reorders.
  int64_t Delayed(int64_t time_ns) { return spec_.kind == JitterSpec::Kind::kNone ? time_ns : Jittered(time_ns); }

 private:
  int64_t Jittered(int64_t time_ns);
  int64_t Drawn(int64_t time_ns);
  int64_t UniformNs(int64_t time_ns);
  int64_t EndOfSlot(int64_t time_ns) const;
  int64_t EndOfSpike(int64_t time_ns);

  JitterSpec spec_;
  RandomStream random_;
  int64_t last_ns_ = 0;
  // Slotted: an end of a slot, in [0, interval).
  int64_t phase_ns_ = 0;
  // Uniform with an interval: the current delay, and until when it holds.
  int64_t held_ns_ = 0;
  int64_t held_until_ns_ = 0;
  // Spikes: the last one that has begun, or the next.
  int64_t spike_start_ns_ = 0;
  int64_t spike_end_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_IMPAIRMENTS_H_
