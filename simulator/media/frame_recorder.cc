#include "media/frame_recorder.h"

#include <algorithm>

namespace weir::sim {

void FrameRecorder::OnSent(const Packet& packet) {
  if (!packet.is_original_video()) return;
  const SimTime capture = packet.capture_time;
  if (frames_.empty() || frames_.back().frame.capture_time != capture) {
    frames_.push_back({.frame = {.capture_time = capture,
                                 .complete_time = capture,
                                 .bytes = 0,
                                 .sent_time = capture,
                                 .key_frame = packet.frame_part.key_frame},
                       .packets_missing = 0});
  }
  frames_.back().frame.sent_time = packet.sent_time;
  frames_.back().frame.bytes += packet.rtp.payload_size;
  ++frames_.back().packets_missing;
  came_.push_back(false);
}

void FrameRecorder::OnReceived(const Packet& packet, SimTime arrival_time) {
  if (packet.rtp.kind == PacketKind::kAudio)
    audio_.push_back({.capture_time = packet.capture_time, .arrival_time = arrival_time});
  if (!packet.is_original_video() && packet.rtp.kind != PacketKind::kRetransmission) return;
  const auto number = static_cast<size_t>(packet.media_sequence_number);
  if (came_[number]) return;
  came_[number] = true;
  PacketHasCome(FrameOf(packet), arrival_time, packet.rtp.kind == PacketKind::kRetransmission);
  ++repairable_;
  while (!lost_.empty() && lost_.begin()->first < packet.transport_sequence_number) {
    const SimDuration round_trip = arrival_time - packet.sent_time + *estimated_return_delay_;
    if (repairable_ > 0) {
      --repairable_;
      PacketHasCome(lost_.begin()->second, arrival_time + round_trip, true);
    }
    lost_.erase(lost_.begin());
  }
}

void FrameRecorder::OnDropped(const Packet& packet) {
  if (!estimated_return_delay_ || !packet.is_original_video()) return;
  lost_.emplace(packet.transport_sequence_number, FrameOf(packet));
}

std::vector<FrameRecorder::Frame> FrameRecorder::Frames(SimTime end) const {
  std::vector<Frame> frames;
  frames.reserve(frames_.size());
  // Goes backward: a frame that would be decoded only after a later key frame is skipped.
  SimTime next_key_frame = end + SimDuration::Nanos(1);
  for (size_t group_end = frames_.size(); group_end > 0;) {
    size_t begin = group_end - 1;
    while (begin > 0 && !frames_[begin].frame.key_frame) --begin;
    bool decodable = true;
    for (size_t i = begin; i < group_end; ++i) {
      const FollowedFrame& followed = frames_[i];
      const bool complete = followed.packets_missing == 0 && followed.frame.complete_time < next_key_frame;
      decodable = complete && (decodable || estimated_return_delay_);
      frames.push_back(followed.frame);
      if (!decodable) frames.back().complete_time = kNever;
    }
    std::reverse(frames.end() - static_cast<std::ptrdiff_t>(group_end - begin), frames.end());
    if (frames.back().complete_time != kNever) next_key_frame = frames.back().complete_time;
    group_end = begin;
  }
  std::ranges::reverse(frames);
  return frames;
}

size_t FrameRecorder::FrameOf(const Packet& packet) const {
  const auto found = std::ranges::lower_bound(frames_, packet.capture_time, {},
                                              [](const FollowedFrame& one) { return one.frame.capture_time; });
  return static_cast<size_t>(found - frames_.begin());
}

void FrameRecorder::PacketHasCome(size_t frame_index, SimTime time, bool retransmitted) {
  FollowedFrame& followed = frames_[frame_index];
  --followed.packets_missing;
  followed.frame.complete_time = std::max(followed.frame.complete_time, time);
  followed.frame.retransmitted |= retransmitted;
}

}  // namespace weir::sim
