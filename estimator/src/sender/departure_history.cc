#include "sender/departure_history.h"

#include <algorithm>

namespace weir {

void DepartureHistory::Add(int64_t number, Timestamp send_time, PacketKind kind, DataSize size) {
  if (empty()) {
    next_to_settle_ = number;
  } else {
    // At most the whole history, so that nothing older remains in the place of a skipped number.
    const int64_t skipped = std::min(number - last_sent_ - 1, static_cast<int64_t>(departures_.size()));
    for (int64_t i = 1; i <= skipped; ++i) At(last_sent_ + i) = {};
  }
  last_sent_ = number;
  Departure& departure = At(number);
  departure.send_time = send_time;
  departure.kind = kind;
  departure.state = State::kInFlight;
  departure.size = static_cast<uint16_t>(size.bytes());
}

int DepartureHistory::ForgetUnsettled() {
  int forgotten = 0;
  for (int64_t number = first_unsettled(); number <= last_sent_; ++number) {
    if (At(number).state != State::kInFlight) continue;
    At(number).state = State::kNotSent;
    ++forgotten;
  }
  next_to_settle_ = last_sent_ + 1;
  return forgotten;
}

}  // namespace weir
