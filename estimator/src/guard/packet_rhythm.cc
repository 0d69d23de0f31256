#include "weir/guard/packet_rhythm.h"

namespace weir {
namespace {

constexpr TimeDelta kSparseGap = TimeDelta::Millis(200);

}  // namespace

void PacketRhythm::OnPackets(uint64_t packets, Timestamp now) {
  if (!any()) {
    latest_.fill(now);
    first_ = now;
  }
  for (size_t i = std::min<uint64_t>(packets, kLatest); i > 0; --i) {
    std::rotate(latest_.begin(), latest_.begin() + 1, latest_.end());
    latest_.back() = now;
  }
}

bool PacketRhythm::SendsFew() const {
  for (size_t i = 1; i < kLatest; ++i) {
    if (latest_[i] - latest_[i - 1] < kSparseGap) return false;
  }
  return true;
}

}  // namespace weir
