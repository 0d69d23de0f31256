#include "weir/arrival/ssrc_table.h"

#include <algorithm>
#include <numeric>

namespace weir {

size_t SsrcTable::Search(uint32_t ssrc) const {
  const auto end = ssrcs_.begin() + static_cast<std::ptrdiff_t>(count_);
  return static_cast<size_t>(std::find(ssrcs_.begin(), end, ssrc) - ssrcs_.begin());
}

std::optional<size_t> SsrcTable::Known(uint32_t ssrc) const {
  const size_t slot = Search(ssrc);
  return slot < count_ ? std::optional(slot) : std::nullopt;
}

SsrcTable::Slot SsrcTable::Find(uint32_t ssrc) {
  Slot slot{last_, false, false};
  if (count_ == 0 || ssrcs_[last_] != ssrc) {
    slot.index = Search(ssrc);
    if (slot.index == count_) {
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

size_t SsrcTable::Recent(std::array<uint16_t, kSlots>& slots) const {
  const auto end = slots.begin() + static_cast<std::ptrdiff_t>(count_);
  std::iota(slots.begin(), end, uint16_t{0});
  std::sort(slots.begin(), end, [this](uint16_t a, uint16_t b) { return last_heard_[a] > last_heard_[b]; });
  return count_;
}

}  // namespace weir
