// The frames of an RTP flow's video: when each was captured, and when it was complete.
#ifndef WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_
#define WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "link/packet.h"

namespace weir::sim {

// A frame is the video packets with one capture time, that is, one RTP timestamp (RFC 3550 section 5.1).
//
// For video, packets count when they arrive as originals or retransmissions, or are recovered by FEC. Filler is not
// repaired, so its completion is an estimate: a lost packet counts as arrived one round trip after the first later
// packet has revealed the gap. That round trip is the later packet's delay plus the return path's own delay. Such
// repairs cost no capacity and ignore the return path's queue, which is optimistic under high loss. No more packets are
// repaired than arrive, and frames do not depend on other frames.
class FrameRecorder {
 public:
  struct Frame {
    SimTime capture_time = kTimeZero;
    // kNever for a frame that could not be decoded: a packet of it, or of a frame that it depends on, had not arrived
    // before a later key frame was complete.
    SimTime complete_time = kTimeZero;
    // Bytes of payload.
    int64_t bytes = 0;
    // When its last packet left the pacer for the first time.
    SimTime sent_time = kTimeZero;
    bool key_frame = false;
    // True if a packet of it arrived as a retransmission.
    bool retransmitted = false;
  };

  struct AudioPacket {
    SimTime capture_time = kTimeZero;
    SimTime arrival_time = kTimeZero;
  };

  // `estimated_return_delay`: only for filler, the delay from the receiver to the sender without queues.
  explicit FrameRecorder(std::optional<SimDuration> estimated_return_delay)
      : estimated_return_delay_(estimated_return_delay) {}

  // Packets other than video and received audio are ignored. Call OnSent in the order of capture, OnReceived in the
  // order of arrival.
  void OnSent(const Packet& packet);
  void OnReceived(const Packet& packet, SimTime arrival_time);
  void OnDropped(const Packet& packet);

  // In the order of capture. Packets that arrive after `end` do not count.
  std::vector<Frame> Frames(SimTime end) const;
  // In the order of arrival.
  const std::vector<AudioPacket>& audio() const { return audio_; }

 private:
  struct FollowedFrame {
    Frame frame;
    // Packets sent but not yet received.
    int32_t packets_missing = 0;
  };

  void PacketHasCome(size_t frame_index, SimTime time, bool retransmitted);
  // Finds the index of a packet's frame by capture time.
  size_t FrameOf(const Packet& packet) const;

  const std::optional<SimDuration> estimated_return_delay_;
  std::vector<FollowedFrame> frames_;
  std::vector<AudioPacket> audio_;
  // By the media's sequence numbers: a packet may arrive as an original and as a retransmission.
  std::vector<bool> came_;
  // For filler: packets that arrived, less those that were repaired.
  int64_t repairable_ = 0;
  // For filler: the frames of lost packets whose gap no packet has revealed yet, by transport sequence number.
  std::map<int64_t, size_t> lost_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_
