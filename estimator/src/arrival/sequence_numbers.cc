#include "weir/arrival/sequence_numbers.h"

namespace weir {

void SequenceNumbers::Start(uint16_t sequence_number) {
  received_.fill(0);
  first_ = highest_ = sequence_number;
  restart_candidate_ = kNoCandidate;
  Mark(highest_);
}

int64_t SequenceNumbers::StepTo(uint16_t sequence_number) const {
  return static_cast<int16_t>(static_cast<uint16_t>(sequence_number - static_cast<uint16_t>(highest_)));
}

SequenceNumbers::Unknown SequenceNumbers::AddUnknown(uint16_t sequence_number) {
  const int64_t step = StepTo(sequence_number);
  const int64_t number = highest_ + step;
  if (step >= kMaxDropout || step <= -kWindow || (step <= 0 && Received(number))) return {false, 0};
  if (step > 0) {
    Advance(number);
    return {true, static_cast<int32_t>(step - 1)};
  }
  Mark(number);
  return {true, number > first_ ? -1 : 0};
}

SequenceNumbers::Result SequenceNumbers::Add(uint16_t sequence_number) {
  const int64_t step = StepTo(sequence_number);
  const int64_t number = highest_ + step;
  if (step > 0 && step < kMaxDropout) {
    restart_candidate_ = kNoCandidate;
    Advance(number);
    return {Verdict::kNew, number, static_cast<int32_t>(step - 1)};
  }
  if (step <= 0 && step > -kWindow) {
    if (Received(number)) return {Verdict::kDuplicate, number, 0};
    Mark(number);
    // What came before the first packet seen was never counted as lost.
    return {Verdict::kLate, number, number > first_ ? -1 : 0};
  }
  if (sequence_number != restart_candidate_) {
    restart_candidate_ = static_cast<uint16_t>(sequence_number + 1);
    return {Verdict::kLeap, number, 0};
  }
  Start(sequence_number);
  return {Verdict::kRestart, highest_, 0};
}

void SequenceNumbers::Advance(int64_t number) {
  if (number - highest_ >= kWindow) {
    received_.fill(0);
  } else {
    for (int64_t skipped = highest_ + 1; skipped < number; ++skipped) Unmark(skipped);
  }
  highest_ = number;
  Mark(number);
}

}  // namespace weir
