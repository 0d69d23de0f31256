// Gives each stream of a sender a slot, as many as there are; the stream not heard for longest gives way to a new one.
#ifndef WEIR_ARRIVAL_SSRC_TABLE_H_
#define WEIR_ARRIVAL_SSRC_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir {

class SsrcTable {
 public:
  static constexpr size_t kSlots = 256;

  struct Slot {
    // Below kSlots.
    size_t index;
    // The slot has just been given to this SSRC; what lay there belongs to nobody or to a stream that was evicted.
    bool is_new;
    // And another stream was forgotten for it.
    bool evicted;
  };

  // The slot of a stream that has just been heard.
  Slot Find(uint32_t ssrc);
  // The slot of a stream that is known, without counting as heard.
  std::optional<size_t> Known(uint32_t ssrc) const;

  // The slots in use, that of the stream most recently heard first: so many of `slots` are written.
  size_t Recent(std::array<uint16_t, kSlots>& slots) const;
  // Of a slot in use.
  uint32_t ssrc(size_t slot) const { return ssrcs_[slot]; }

 private:
  // `count_` when there is none.
  size_t Search(uint32_t ssrc) const;

  // Apart from what lies in the slots, so that a search reads one kilobyte.
  std::array<uint32_t, kSlots> ssrcs_{};
  std::array<uint64_t, kSlots> last_heard_{};
  size_t count_ = 0;
  size_t last_ = 0;
  uint64_t heard_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SSRC_TABLE_H_
