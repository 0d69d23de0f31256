// History of sent packets by their transport-wide sequence numbers.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_
#define WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Keeps the latest departures. Times are on the sender's clock and exclude its pauses. Numbers do not wrap. Allocates
// only at construction.
class DepartureHistory {
 public:
  enum class State : uint8_t { kNotSent, kInFlight, kLost, kDone };
  // 16 bytes, since there are many. All zero if not sent.
  struct Departure {
    Timestamp send_time = Timestamp::Micros(0);
    // ReportedArrival::number, once the fate is known.
    uint32_t known_number = 0;
    uint16_t size = 0;
    PacketKind kind = PacketKind::kVideo;
    State state = State::kNotSent;
  };
  static_assert(sizeof(Departure) == 16);

  // Sums and differences of numbers up to this one do not overflow.
  static constexpr int64_t kMaxNumber = int64_t{1} << 60;

  explicit DepartureHistory(size_t size) : departures_(size) {}

  bool empty() const { return last_sent_ < 0; }
  // True if a departure may have this number: it is after the latest one.
  bool MayFollow(int64_t number) const { return number > last_sent_ && number <= kMaxNumber; }
  // Adds a departure that may follow. Skipped numbers belong to no packet.
  void Add(int64_t number, Timestamp send_time, PacketKind kind, DataSize size);

  bool Has(int64_t number) const {
    return number >= std::max<int64_t>(oldest(), 0) && number <= last_sent_ && At(number).state != State::kNotSent;
  }
  Departure& At(int64_t number) { return departures_[static_cast<size_t>(number) % departures_.size()]; }
  const Departure& At(int64_t number) const { return departures_[static_cast<size_t>(number) % departures_.size()]; }
  // Time since a packet was sent, on the sender's clock.
  TimeDelta SinceSent(int64_t number, Timestamp now) const { return now - At(number).send_time; }

  // Called when the fate of a departure becomes known.
  void TakeKnownNumber(Departure& departure) { departure.known_number = next_known_number_++; }

  // Every departure before this one is settled: received, lost or of unknown fate.
  int64_t next_to_settle() const { return next_to_settle_; }
  void SettleUntil(int64_t next) { next_to_settle_ = next; }
  bool all_settled() const { return next_to_settle_ > last_sent_; }
  // The first departure that is neither settled nor dropped from the history.
  int64_t first_unsettled() const { return std::max(next_to_settle_, oldest()); }
  // Settles all departures, those in flight as if they were never sent. Returns the number of the latter.
  int ForgetUnsettled();

 private:
  int64_t oldest() const { return last_sent_ + 1 - static_cast<int64_t>(departures_.size()); }

  std::vector<Departure> departures_;
  int64_t last_sent_ = -1;
  int64_t next_to_settle_ = 0;
  uint32_t next_known_number_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_DEPARTURE_HISTORY_H_
