// What arrives, for the guard: quicker than what a policy sees, and known without any delay or sequence number.
#ifndef WEIR_GUARD_RECEIVE_RATE_H_
#define WEIR_GUARD_RECEIVE_RATE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/units.h"

namespace weir {

class ReceiveRate {
 public:
  // Counting begins.
  void Start(Timestamp now) { slot_start_ = now; }
  void OnPacket(DataSize size) { slot_size_ += size; }
  // Closes the slot at `now`, which must not be before that of an earlier call, when it has lasted for 200 ms.
  void Update(Timestamp now);
  // Of the last second; zero before the first slot ends.
  DataRate Highest() const;
  // Of the latest two slots, likewise.
  DataRate Latest() const;

 private:
  static constexpr size_t kSlots = 5;

  DataSize slot_size_ = DataSize::Zero();
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  std::array<int64_t, kSlots> rates_bps_{};
  size_t slot_ = 0;
};

}  // namespace weir

#endif  // WEIR_GUARD_RECEIVE_RATE_H_
