#include "sender/departure_history.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int64_t kHalfOfNumbers = 0x8000;
// Fewer consecutive departures out of order may be late ones.
constexpr int kOutOfOrderToRestart = 50;

}  // namespace

bool DepartureHistory::MayFollow(uint16_t sequence_number) {
  const int64_t step = StepTo(sequence_number);
  if (empty() || (step > 0 && step < kHalfOfNumbers)) return true;
  const bool follows = out_of_order_ > 0 && sequence_number == static_cast<uint16_t>(last_out_of_order_ + 1);
  out_of_order_ = follows ? out_of_order_ + 1 : 1;
  last_out_of_order_ = sequence_number;
  return out_of_order_ >= kOutOfOrderToRestart;
}

int64_t DepartureHistory::Add(uint16_t sequence_number, Timestamp send_time, PacketKind kind, DataSize size) {
  out_of_order_ = 0;
  if (empty()) {
    last_sent_ = next_to_settle_ = sequence_number;
  } else {
    const int64_t step = StepTo(sequence_number);
    const int64_t fresh = std::min(step, static_cast<int64_t>(departures_.size()));
    for (int64_t skipped = 1; skipped < fresh; ++skipped) At(last_sent_ + skipped) = {};
    last_sent_ += step;
  }
  Departure& departure = At(last_sent_);
  departure.send_time = send_time;
  departure.kind = kind;
  departure.state = State::kInFlight;
  departure.size = static_cast<uint16_t>(size.bytes());
  return last_sent_;
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
