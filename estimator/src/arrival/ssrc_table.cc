#include "weir/arrival/ssrc_table.h"

#include <algorithm>
#include <numeric>

namespace weir {

SsrcTable::Slot SsrcTable::Find(uint32_t ssrc) {
  Slot slot{last_, false, false};
  if (count_ == 0 || ssrcs_[last_] != ssrc) {
    const auto end = ssrcs_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found = std::find(ssrcs_.begin(), end, ssrc);
    slot.index = static_cast<size_t>(found - ssrcs_.begin());
    if (found == end) {
      slot.is_new = true;
      if (count_ < kSlots) {
        ++count_;
      } else {
        const auto oldest = std::min_element(last_heard_.begin(), last_heard_.end());
        slot.index = static_cast<size_t>(oldest - last_heard_.begin());
        slot.evicted = true;
      }
      ssrcs_[slot.index] = ssrc;
    }
    last_ = slot.index;
  }
  last_heard_[slot.index] = ++heard_;
  return slot;
}

size_t SsrcTable::Recent(std::span<uint32_t> out) const {
  std::array<uint16_t, kSlots> order{};
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count_);
  std::iota(order.begin(), end, uint16_t{0});
  std::sort(order.begin(), end, [this](uint16_t a, uint16_t b) { return last_heard_[a] > last_heard_[b]; });
  const size_t count = std::min(out.size(), count_);
  for (size_t i = 0; i < count; ++i) out[i] = ssrcs_[order[i]];
  return count;
}

}  // namespace weir
