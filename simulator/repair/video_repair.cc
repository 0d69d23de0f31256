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
constexpr int64_t kMaxWaitForFrameNs = 3'000'000'000;
constexpr int64_t kMaxWaitForKeyFrameNs = 200'000'000;
constexpr int64_t kInactiveNs = 5'000'000'000;

}  // namespace

std::optional<Packet> VideoRepair::OnFec(const Packet& packet, int64_t arrival_time_ns) {
  std::optional<Packet> recovered = fec_.OnFec(packet);
  if (recovered) OnPacket(*recovered, arrival_time_ns);
  return recovered;
}

void VideoRepair::OnPacket(const Packet& packet, int64_t arrival_time_ns) {
  if (packet.rtp.kind == PacketKind::kVideo) {
    overflow_ |= !nack_requester_.OnPacket(packet.media_sequence_number);
  } else if (packet.rtp.kind == PacketKind::kRetransmission) {
    nack_requester_.OnRetransmission(packet.media_sequence_number);
    fec_.OnRetransmission(packet.media_sequence_number);
  } else {
    return;
  }
  last_packet_ns_ = arrival_time_ns;
  if (packet.frame_part.key_frame) last_key_frame_packet_ns_ = arrival_time_ns;
  if (!assembly_.OnPacket(packet.media_sequence_number, packet.frame_part)) return;
  decoded_any_ = true;
  waiting_since_ns_ = arrival_time_ns;
  if (nack_requester_.any_missing()) nack_requester_.ClearUpTo(assembly_.first_needed());
}

int64_t VideoRepair::KeyFrameDeadlineNs() const {
  return waiting_since_ns_ + (decoded_any_ ? kMaxWaitForFrameNs : kMaxWaitForKeyFrameNs);
}

int64_t VideoRepair::next_timeout_ns() const {
  const int64_t gap_ns = gaps_ns_.empty() ? kNeverNs : gaps_ns_.top();
  return std::min({gap_ns, nack_requester_.next_timeout_ns(), KeyFrameDeadlineNs()});
}

VideoRepair::Requests VideoRepair::TakeRequests(int64_t now_ns) {
  while (!gaps_ns_.empty() && gaps_ns_.top() <= now_ns) gaps_ns_.pop();
  Requests requests;
  requests.nack = nack_requester_.TakeRequests(now_ns);
  requests.pli = std::exchange(overflow_, false);
  if (KeyFrameDeadlineNs() <= now_ns) {
    waiting_since_ns_ = now_ns;
    const bool active = last_packet_ns_ != kNeverNs && now_ns - last_packet_ns_ < kInactiveNs;
    const bool key_frame_comes =
        last_key_frame_packet_ns_ != kNeverNs && now_ns - last_key_frame_packet_ns_ < kMaxWaitForKeyFrameNs;
    requests.pli |= active && !key_frame_comes;
  }
  return requests;
}

}  // namespace weir::sim
