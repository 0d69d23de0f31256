#include "media/frame_recorder.h"

#include <algorithm>
#include <utility>

namespace weir::sim {
void FrameRecorder::OnSent(const Packet& packet) {
  if (packet.rtp.kind != PacketKind::kVideo) return;
  const int64_t capture_ns = packet.capture_time_ns;
  if (frames_.empty() || frames_.back().frame.capture_ns != capture_ns) {
    frames_.push_back(
        {.frame = {.capture_ns = capture_ns, .complete_ns = capture_ns, .bytes = 0}, .packets_missing = 0});
  }
  frames_.back().frame.bytes += packet.rtp.payload_size;
  ++frames_.back().packets_missing;
}

void FrameRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  if (packet.rtp.kind != PacketKind::kVideo) return;
  size_t index = first_open_;
  while (frames_[index].frame.capture_ns != packet.capture_time_ns) ++index;
  PacketHasCome(index, arrival_time_ns);
  while (!lost_.empty() && lost_.front().transport_sequence_number < packet.transport_sequence_number) {
    const int64_t round_trip_ns = arrival_time_ns - packet.sent_time_ns + return_delay_ns_;
    PacketHasCome(lost_.front().frame_index, arrival_time_ns + round_trip_ns);
    lost_.pop_front();
  }
  // The last frame may have packets that are not sent yet.
  while (first_open_ + 1 < frames_.size() && frames_[first_open_].packets_missing == 0) ++first_open_;
}

void FrameRecorder::OnDropped(const Packet& packet) {
  if (packet.rtp.kind != PacketKind::kVideo) return;
  size_t index = frames_.size() - 1;
  while (frames_[index].frame.capture_ns != packet.capture_time_ns) --index;
  lost_.push_back({packet.transport_sequence_number, index});
  // A queue may drop at its head after it has dropped at its tail.
  for (size_t i = lost_.size() - 1; i > 0; --i) {
    if (lost_[i - 1].transport_sequence_number < lost_[i].transport_sequence_number) break;
    std::swap(lost_[i - 1], lost_[i]);
  }
}

std::vector<FrameRecorder::Frame> FrameRecorder::Frames(int64_t end_ns) const {
  std::vector<Frame> frames;
  frames.reserve(frames_.size());
  for (const FollowedFrame& followed : frames_) {
    Frame& frame = frames.emplace_back(followed.frame);
    if (followed.packets_missing > 0 || frame.complete_ns > end_ns) frame.complete_ns = kNeverNs;
  }
  return frames;
}

void FrameRecorder::PacketHasCome(size_t frame_index, int64_t time_ns) {
  FollowedFrame& followed = frames_[frame_index];
  --followed.packets_missing;
  followed.frame.complete_ns = std::max(followed.frame.complete_ns, time_ns);
}

}  // namespace weir::sim
