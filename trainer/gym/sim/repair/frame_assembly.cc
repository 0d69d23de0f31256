#include "repair/frame_assembly.h"

namespace weir::sim {
namespace {

// As old as a packet may be in libwebrtc's NACK list.
constexpr int64_t kMaxPackets = 10'000;

}  // namespace

bool FrameAssembly::OnOtherPacket(int64_t sequence_number, FramePart part) {
  if (sequence_number < next_) return false;
  if (sequence_number - next_ >= kMaxPackets) {
    while (!slots_.empty()) slots_.pop_front();
    next_ = sequence_number;
    needs_key_frame_ = true;
  }
  const auto index = static_cast<size_t>(sequence_number - next_);
  while (slots_.size() <= index) slots_.push_back(Slot());
  slots_[index] = {.received = true, .part = part};
  if (index == 0) return TakeContiguous();
  return part.key_frame && SkipToKeyFrame(index);
}

bool FrameAssembly::TakeContiguous() {
  bool decodable = false;
  while (!slots_.empty() && slots_.front().received) {
    decodable |= Take(slots_.take_front().part);
    ++next_;
  }
  return decodable;
}

bool FrameAssembly::SkipToKeyFrame(size_t index) {
  size_t first = index, last = index;
  while (first > 0 && slots_[first].received && !slots_[first].part.first) --first;
  while (last + 1 < slots_.size() && slots_[last].received && !slots_[last].part.last) ++last;
  if (!slots_[first].received || !slots_[first].part.first || !slots_[last].received || !slots_[last].part.last) {
    return false;
  }
  next_ += static_cast<int64_t>(first);
  for (; first > 0; --first) slots_.pop_front();
  return TakeContiguous();
}

}  // namespace weir::sim
