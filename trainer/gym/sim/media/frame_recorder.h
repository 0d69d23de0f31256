// The frames of an RTP flow's video: when each was captured, and when all of it had come.
#ifndef WEIR_TRAINER_GYM_SIM_MEDIA_FRAME_RECORDER_H_
#define WEIR_TRAINER_GYM_SIM_MEDIA_FRAME_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/packet.h"

namespace weir::sim {

// A frame is the video packets of one capture time, which their RTP timestamp shows (RFC 3550 section 5.1).
//
// With losses, completion is an estimate: nothing is sent again here, and a receiver that asks (RFC 4585, generic NACK)
// is assumed. A lost packet counts as come one round trip after the first later video packet has shown the gap: the
// return path's own delay, and forwards what that later packet took. Repairs cost no capacity, none is lost, and the
// queue of the return path is left out: where much is lost this flatters.
class FrameRecorder {
 public:
  struct Frame {
    int64_t capture_ns = 0;
    // kNeverNs where a packet has not come.
    int64_t complete_ns = 0;
    // Payload.
    int64_t bytes = 0;
  };

  // `return_delay_ns`: from the receiver to the sender, without queue.
  explicit FrameRecorder(int64_t return_delay_ns) : return_delay_ns_(return_delay_ns) {}

  // Packets other than video are passed over. Sent in the order of capture, received in the order of arrival.
  void OnSent(const Packet& packet);
  void OnReceived(const Packet& packet, int64_t arrival_time_ns);
  void OnDropped(const Packet& packet);

  // In the order of capture; what comes after `end_ns` has not come.
  std::vector<Frame> Frames(int64_t end_ns) const;

 private:
  struct FollowedFrame {
    Frame frame;
    // Of those sent.
    int32_t packets_missing = 0;
  };
  struct LostPacket {
    int64_t transport_sequence_number = 0;
    size_t frame_index = 0;
  };

  void PacketHasCome(size_t frame_index, int64_t time_ns);

  const int64_t return_delay_ns_;
  std::vector<FollowedFrame> frames_;
  // All frames before this one are complete.
  size_t first_open_ = 0;
  // Those whose gap no packet has shown yet, in the order of sending.
  RingBuffer<LostPacket> lost_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_MEDIA_FRAME_RECORDER_H_
