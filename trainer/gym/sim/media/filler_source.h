// Media that always has exactly as much to send as the target allows, in evenly spaced packets: measures an estimator
// rather than an encoder. Payloads have 1200 bytes, fewer where packets would come less often than 30 times a second:
// at a low rate media sends smaller packets, not rarer ones.
//
// What appears within one thirtieth of a second is a frame of it, captured when its first packet appears and sent
// evenly until the next: all its packets have that capture time.
#ifndef WEIR_TRAINER_GYM_SIM_MEDIA_FILLER_SOURCE_H_
#define WEIR_TRAINER_GYM_SIM_MEDIA_FILLER_SOURCE_H_

#include "media/media_source.h"

namespace weir::sim {

class FillerSource final : public MediaSource {
 public:
  // `overhead_bytes`: what the target pays for in each packet beside its payload. `max_rate`: never more than this,
  // headers included.
  FillerSource(uint32_t overhead_bytes, DataRate max_rate);

  void SetTargetRate(DataRate target_rate, int64_t now_ns) override;
  void SetActive(bool active, int64_t now_ns) override;
  int64_t next_packet_ns() const override { return next_packet_ns_; }
  MediaPacket TakePacket(int64_t now_ns) override;
  bool elastic() const override { return true; }

 private:
  const int64_t overhead_bytes_;
  const int64_t max_rate_bps_;
  int64_t rate_bps_ = 0;
  // At that rate: of each packet, and from one to the next. The latter only while the rate is not 0.
  int64_t payload_bytes_ = 0;
  int64_t interval_ns_ = 0;
  bool active_ = false;
  int64_t next_packet_ns_;
  // Of the frame that is being handed out, and when its thirtieth of a second ends.
  int64_t frame_capture_time_ns_ = 0;
  int64_t frame_end_ns_ = 0;
  // Bits still to be earned for the next packet; kept while the rate is 0.
  int64_t missing_bits_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_MEDIA_FILLER_SOURCE_H_
