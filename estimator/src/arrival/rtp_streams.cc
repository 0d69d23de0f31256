#include "arrival/rtp_streams.h"

#include <algorithm>
#include <numeric>

namespace weir {

void SequenceNumbers::Start(uint16_t sequence_number, Timestamp arrival_time) {
  latest_ = arrival_time;
  received_.fill(0);
  first_ = highest_ = sequence_number;
  duplicates_ = 0;
  restart_candidate_ = kNoCandidate;
  Mark(highest_);
}

SequenceNumbers::Result SequenceNumbers::AddOther(uint16_t sequence_number, bool sent_later) {
  const int64_t step = StepTo(sequence_number);
  const int64_t number = highest_ + step;
  if (step > 0 && IsPlausibleGap(step)) {
    restart_candidate_ = kNoCandidate;
    Advance(number);
    return {Verdict::kNew, number, static_cast<int32_t>(step - 1)};
  }
  if (step <= 0 && step > -kWindow) {
    if (!Received(number)) {
      Mark(number);
      // Packets sent before the first packet seen were never counted as lost.
      return {Verdict::kLate, number, number > first_ ? -1 : 0};
    }
    if (!sent_later || !OnDuplicate(number)) return {Verdict::kDuplicate, number, 0};
  } else if (sequence_number != restart_candidate_) {
    restart_candidate_ = static_cast<uint16_t>(sequence_number + 1);
    return {Verdict::kLeap, number, 0};
  }
  Start(sequence_number, latest_);
  return {Verdict::kRestart, highest_, 0};
}

bool SequenceNumbers::IsPlausibleGap(int64_t step) const {
  const auto& [begin, end] = pause_;
  const TimeDelta elapsed = latest_ - (latest_ - end <= kPauseMemory ? begin : previous_);
  return step < kMaxDropout && step <= kMaxBurst + kMaxPerMillisecond * std::max<int64_t>(elapsed.ms(), 0);
}

bool SequenceNumbers::OnDuplicate(int64_t number) {
  if (duplicates_ == 0 || highest_at_duplicates_ != highest_) {
    highest_at_duplicates_ = highest_;
    duplicates_ = 0;
  } else if (number <= latest_duplicate_) {
    return false;
  }
  latest_duplicate_ = number;
  return ++duplicates_ >= kDuplicatesToRestart;
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

size_t SsrcTable::Search(uint32_t ssrc) const {
  const auto end = ssrcs_.begin() + static_cast<std::ptrdiff_t>(count_);
  return static_cast<size_t>(std::find(ssrcs_.begin(), end, ssrc) - ssrcs_.begin());
}

std::optional<size_t> SsrcTable::Known(uint32_t ssrc) const {
  const size_t slot = Search(ssrc);
  return slot < count_ ? std::optional(slot) : std::nullopt;
}

SsrcTable::Slot SsrcTable::FindOther(uint32_t ssrc) {
  Slot slot{Search(ssrc), false, false};
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
