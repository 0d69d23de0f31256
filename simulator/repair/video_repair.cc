#include "repair/video_repair.h"

#include <algorithm>
#include <utility>

namespace weir::sim {
namespace {

// The maximum age of a packet in libwebrtc's NACK list.
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

namespace {

// Values of libwebrtc's VideoReceiveStream2.
constexpr SimDuration kMaxWaitForFrame = SimDuration::Seconds(3);
constexpr SimDuration kMaxWaitForKeyFrame = SimDuration::Millis(200);
constexpr SimDuration kInactive = SimDuration::Seconds(5);

}  // namespace

std::optional<Packet> VideoRepair::OnFec(const Packet& packet, SimTime arrival_time) {
  std::optional<Packet> recovered = fec_.OnFec(packet);
  if (recovered) OnPacket(*recovered, arrival_time);
  return recovered;
}

void VideoRepair::OnPacket(const Packet& packet, SimTime arrival_time) {
  if (packet.rtp.kind == PacketKind::kVideo) {
    overflow_ |= !nack_requester_.OnPacket(packet.media_sequence_number);
  } else if (packet.rtp.kind == PacketKind::kRetransmission) {
    nack_requester_.OnRetransmission(packet.media_sequence_number);
    fec_.OnRetransmission(packet.media_sequence_number);
  } else {
    return;
  }
  last_packet_ = arrival_time;
  if (packet.frame_part.key_frame) last_key_frame_packet_ = arrival_time;
  if (!assembly_.OnPacket(packet.media_sequence_number, packet.frame_part)) return;
  decoded_any_ = true;
  waiting_since_ = arrival_time;
  if (nack_requester_.any_missing()) nack_requester_.ClearUpTo(assembly_.first_needed());
}

SimTime VideoRepair::KeyFrameDeadline() const {
  return waiting_since_ + (decoded_any_ ? kMaxWaitForFrame : kMaxWaitForKeyFrame);
}

SimTime VideoRepair::next_timeout() const {
  const SimTime gap = gaps_.empty() ? kNever : gaps_.top();
  return std::min({gap, nack_requester_.next_timeout(), KeyFrameDeadline()});
}

VideoRepair::Requests VideoRepair::TakeRequests(SimTime now) {
  while (!gaps_.empty() && gaps_.top() <= now) gaps_.pop();
  Requests requests;
  requests.nack = nack_requester_.TakeRequests(now);
  requests.pli = std::exchange(overflow_, false);
  if (KeyFrameDeadline() <= now) {
    waiting_since_ = now;
    const bool active = last_packet_ != kNever && now - last_packet_ < kInactive;
    const bool key_frame_comes = last_key_frame_packet_ != kNever && now - last_key_frame_packet_ < kMaxWaitForKeyFrame;
    requests.pli |= active && !key_frame_comes;
  }
  return requests;
}

}  // namespace weir::sim
