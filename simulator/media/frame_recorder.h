// The frames of an RTP flow's video: when each was captured, and when all of it had come.
#ifndef WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_
#define WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/event.h"
#include "link/packet.h"

namespace weir::sim {

// A frame is the video packets of one capture time, which their RTP timestamp shows (RFC 3550 section 5.1).
//
// For video, the recorded packet is what came, originals or retransmissions. Of filler, which is not repaired,
// completion is an estimate: a lost packet counts as come one round trip after the first later packet has shown the
// gap: the return path's own delay, and forwards what that later packet took. Such repairs cost no capacity, and the
// queue of the return path is left out: where much is lost this flatters. No more are repaired than arrive, and
// frames need no others.
class FrameRecorder {
 public:
  struct Frame {
    int64_t capture_ns = 0;
    // kNeverNs for a frame that could not be decoded: a packet of it, or of a frame that it needs, had not come before
    // a later key frame was there.
    int64_t complete_ns = 0;
    // Payload.
    int64_t bytes = 0;
    // When its last packet left the pacer for the first time.
    int64_t sent_ns = 0;
    bool key_frame = false;
  };

  // `estimated_return_delay_ns`: of filler; from the receiver to the sender, without queue.
  explicit FrameRecorder(std::optional<int64_t> estimated_return_delay_ns)
      : estimated_return_delay_ns_(estimated_return_delay_ns) {}

  // Packets other than video are passed over. Sent in the order of capture, received in the order of arrival.
  void OnSent(const Packet& packet);
  void OnReceived(const Packet& packet, int64_t arrival_time_ns);
  void OnDropped(const Packet& packet);

  // In the order of capture; what comes after `end_ns` has not come.
  std::vector<Frame> Frames(int64_t end_ns) const;

 private:
  struct FollowedFrame {
    Frame frame;
    // Counts packets sent.
    int32_t packets_missing = 0;
  };

  void PacketHasCome(size_t frame_index, int64_t time_ns);
  // By its capture time.
  size_t FrameOf(const Packet& packet) const;

  const std::optional<int64_t> estimated_return_delay_ns_;
  std::vector<FollowedFrame> frames_;
  // By the media's sequence numbers: a packet may come as original and as retransmission.
  std::vector<bool> came_;
  // For filler: packets that arrived, less those that were repaired.
  int64_t repairable_ = 0;
  // For filler: the frames of lost packets whose gap no packet has shown yet, by transport sequence number.
  std::map<int64_t, size_t> lost_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_FRAME_RECORDER_H_
