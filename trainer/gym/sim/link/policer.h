// A policer: drops what comes faster than its rate for longer than its bucket lasts, and delays nothing.
#ifndef WEIR_TRAINER_GYM_SIM_LINK_POLICER_H_
#define WEIR_TRAINER_GYM_SIM_LINK_POLICER_H_

#include <cstdint>

namespace weir::sim {

// The token bucket of a committed information rate and a committed burst size (RFC 2697 section 3, without the excess
// bucket): full at the start, filled at `rate_bps` up to `burst_bytes`; a packet that finds as many tokens as its IP
// packet has bytes takes them, any other is dropped and takes none.
class Policer {
 public:
  // `rate_bps` in 1 to 10 Gbit/s, `burst_bytes` in 1 to 1e9.
  Policer(int64_t rate_bps, int64_t burst_bytes);

  // Whether a packet conforms; calls come in the order of time.
  bool Conforms(int64_t now_ns, uint32_t size_bytes);

 private:
  const int64_t rate_bps_;
  // In bit/s * ns, that is 1e-9 bits.
  const int64_t full_nanobits_;
  int64_t nanobits_;
  int64_t filled_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_POLICER_H_
