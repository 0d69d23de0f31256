#include "media/frame_recorder.h"

#include <algorithm>

namespace weir::sim {

void FrameRecorder::OnSent(const Packet& packet) {
  if (!packet.is_original_video()) return;
  const int64_t capture_ns = packet.capture_time_ns;
  if (frames_.empty() || frames_.back().frame.capture_ns != capture_ns) {
    frames_.push_back({.frame = {.capture_ns = capture_ns,
                                 .complete_ns = capture_ns,
                                 .bytes = 0,
                                 .sent_ns = capture_ns,
                                 .key_frame = packet.frame_part.key_frame},
                       .packets_missing = 0});
  }
  frames_.back().frame.sent_ns = packet.sent_time_ns;
  frames_.back().frame.bytes += packet.rtp.payload_size;
  ++frames_.back().packets_missing;
  came_.push_back(false);
}

void FrameRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  if (!packet.is_original_video() && packet.rtp.kind != PacketKind::kRetransmission) return;
  const auto number = static_cast<size_t>(packet.media_sequence_number);
  if (came_[number]) return;
  came_[number] = true;
  PacketHasCome(FrameOf(packet), arrival_time_ns);
  ++repairable_;
  while (!lost_.empty() && lost_.begin()->first < packet.transport_sequence_number) {
    const int64_t round_trip_ns = arrival_time_ns - packet.sent_time_ns + *estimated_return_delay_ns_;
    if (repairable_ > 0) {
      --repairable_;
      PacketHasCome(lost_.begin()->second, arrival_time_ns + round_trip_ns);
    }
    lost_.erase(lost_.begin());
  }
}

void FrameRecorder::OnDropped(const Packet& packet) {
  if (!estimated_return_delay_ns_ || !packet.is_original_video()) return;
  lost_.emplace(packet.transport_sequence_number, FrameOf(packet));
}

std::vector<FrameRecorder::Frame> FrameRecorder::Frames(int64_t end_ns) const {
  std::vector<Frame> frames;
  frames.reserve(frames_.size());
  // Goes backward: a frame that would be decoded only after a later key frame is skipped.
  int64_t next_key_frame_ns = end_ns + 1;
  for (size_t end = frames_.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && !frames_[begin].frame.key_frame) --begin;
    bool decodable = true;
    for (size_t i = begin; i < end; ++i) {
      const FollowedFrame& followed = frames_[i];
      const bool complete = followed.packets_missing == 0 && followed.frame.complete_ns < next_key_frame_ns;
      decodable = complete && (decodable || estimated_return_delay_ns_);
      frames.push_back(followed.frame);
      if (!decodable) frames.back().complete_ns = kNeverNs;
    }
    std::reverse(frames.end() - static_cast<std::ptrdiff_t>(end - begin), frames.end());
    if (frames.back().complete_ns != kNeverNs) next_key_frame_ns = frames.back().complete_ns;
    end = begin;
  }
  std::ranges::reverse(frames);
  return frames;
}

size_t FrameRecorder::FrameOf(const Packet& packet) const {
  const auto found = std::ranges::lower_bound(frames_, packet.capture_time_ns, {},
                                              [](const FollowedFrame& one) { return one.frame.capture_ns; });
  return static_cast<size_t>(found - frames_.begin());
}

void FrameRecorder::PacketHasCome(size_t frame_index, int64_t time_ns) {
  FollowedFrame& followed = frames_[frame_index];
  --followed.packets_missing;
  followed.frame.complete_ns = std::max(followed.frame.complete_ns, time_ns);
}

}  // namespace weir::sim
