// Synchronizes the audio and video that a receiver plays.
#ifndef WEIR_SIMULATOR_MEDIA_LIP_SYNC_H_
#define WEIR_SIMULATOR_MEDIA_LIP_SYNC_H_

#include "core/sim_time.h"

namespace weir::sim {

// Delays the stream that is ahead, as libwebrtc's StreamSynchronization does: each second by half of their mean
// distance and at most 80 ms, if that is above 30 ms. Ignores distances above 10 s.
class LipSync {
 public:
  static constexpr SimDuration kInterval = SimDuration::Seconds(1);

  // Call each kInterval with the time by which video is played after audio of the same capture time.
  void Update(double video_behind_ms);

  // The least delays of both streams, in their buffers.
  double audio_ms() const { return audio_ms_; }
  double video_ms() const { return video_ms_; }

 private:
  double mean_ms_ = 0;
  double audio_extra_ms_ = 0;
  double video_extra_ms_ = 0;
  double audio_ms_ = 0;
  double video_ms_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_LIP_SYNC_H_
