// The packets that left a sender, by their transport-wide sequence numbers.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_
#define WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Remembers the latest departures. Times are the sender's without its pauses. A number here is unwrapped from the 16
// bits that packets and feedback have. Allocates only at construction.
class DepartureHistory {
 public:
  enum class State : uint8_t { kNotSent, kInFlight, kLost, kDone };
  // 16 bytes, since there are many; zeros: not sent.
  struct Departure {
    Timestamp send_time = Timestamp::Micros(0);
    // ReportedArrival::number, once the fate is known.
    uint32_t known_number = 0;
    uint16_t size = 0;
    PacketKind kind = PacketKind::kVideo;
    State state = State::kNotSent;
  };
  static_assert(sizeof(Departure) == 16);

  explicit DepartureHistory(size_t size) : departures_(size) {}

  bool empty() const { return last_sent_ < 0; }
  // A departure with this number may follow if it is after the latest one, or the last of many in a row with numbers in
  // their own order: then the host has begun anew, or gave a wrong number before.
  bool MayFollow(uint16_t sequence_number);
  // Adds a departure that may follow; the numbers that were passed over are of no packet. Returns its number.
  int64_t Add(uint16_t sequence_number, Timestamp send_time, PacketKind kind, DataSize size);

  // The latest departure with this number, which may be too old to be remembered.
  int64_t Unwrap(uint16_t sequence_number) const {
    return last_sent_ - static_cast<uint16_t>(static_cast<uint16_t>(last_sent_) - sequence_number);
  }
  bool Has(int64_t number) { return number >= std::max<int64_t>(oldest(), 0) && At(number).state != State::kNotSent; }
  Departure& At(int64_t number) { return departures_[static_cast<size_t>(number) % departures_.size()]; }
  // By the sender's clock alone.
  TimeDelta SinceSent(int64_t number, Timestamp now) { return now - At(number).send_time; }

  // The fate of a departure is known now.
  void TakeKnownNumber(Departure& departure) { departure.known_number = next_known_number_++; }

  // Every departure before this one is received, lost or of unknown fate.
  int64_t next_to_settle() const { return next_to_settle_; }
  void SettleUntil(int64_t next) { next_to_settle_ = next; }
  bool all_settled() const { return next_to_settle_ > last_sent_; }
  // The first that is neither settled nor forgotten.
  int64_t first_unsettled() const { return std::max(next_to_settle_, oldest()); }
  // Settles all, those in flight as if they were never sent; returns how many these were.
  int ForgetUnsettled();

 private:
  // From the latest departure to one with this number, modulo 2^16.
  int64_t StepTo(uint16_t sequence_number) const {
    return static_cast<uint16_t>(sequence_number - static_cast<uint16_t>(last_sent_));
  }
  int64_t oldest() const { return last_sent_ + 1 - static_cast<int64_t>(departures_.size()); }

  std::vector<Departure> departures_;
  int64_t last_sent_ = -1;
  int64_t next_to_settle_ = 0;
  uint32_t next_known_number_ = 0;
  // Departures in a row that may not follow, and the number of the latest.
  int out_of_order_ = 0;
  uint16_t last_out_of_order_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_
