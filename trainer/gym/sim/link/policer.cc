#include "link/policer.h"

#include <algorithm>

namespace weir::sim {
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

}  // namespace weir::sim
