// How far a receiver can decode a video stream: every frame needs all frames since the last key frame.
#ifndef WEIR_TRAINER_GYM_SIM_REPAIR_FRAME_ASSEMBLY_H_
#define WEIR_TRAINER_GYM_SIM_REPAIR_FRAME_ASSEMBLY_H_

#include <cstdint>

#include "core/ring_buffer.h"
#include "link/packet.h"

namespace weir::sim {

class FrameAssembly {
 public:
  // A packet of the stream, original or retransmitted, by its unwrapped sequence number. True when with it a frame can
  // be decoded that could not before.
  bool OnPacket(int64_t sequence_number, FramePart part) {
    if (sequence_number != next_ || !slots_.empty()) return OnOtherPacket(sequence_number, part);
    ++next_;
    return Take(part);
  }

  // Packets before this one are not needed any more.
  int64_t first_needed() const { return next_; }

 private:
  struct Slot {
    bool received = false;
    FramePart part;
  };

  // Takes what has come without a gap; true when the end of a decodable frame was in it.
  bool TakeContiguous();
  bool Take(FramePart part) {
    if (part.key_frame && part.first) needs_key_frame_ = false;
    return part.last && !needs_key_frame_;
  }
  // One beside a gap.
  bool OnOtherPacket(int64_t sequence_number, FramePart part);
  // Goes on with the key frame that holds that slot, if it is complete.
  bool SkipToKeyFrame(size_t index);

  // From `next_` on.
  RingBuffer<Slot> slots_;
  int64_t next_ = 0;
  bool needs_key_frame_ = true;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REPAIR_FRAME_ASSEMBLY_H_
