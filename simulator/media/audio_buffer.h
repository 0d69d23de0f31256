// The receiver's buffer of audio, which video waits for.
#ifndef WEIR_SIMULATOR_MEDIA_AUDIO_BUFFER_H_
#define WEIR_SIMULATOR_MEDIA_AUDIO_BUFFER_H_

#include <array>
#include <deque>

#include "core/sim_time.h"

namespace weir::sim {

// Follows libwebrtc's NetEq. A packet's delay is its latency less the least of the last 2 s. The target is a quantile,
// by default 0.95, of the largest delays of 0.5 s each, over the last half minute in bins of 20 ms. Audio is played
// with a latency that grows at once when a packet comes too late. Otherwise it moves, as audio is stretched or
// shortened, into the range from the target to the target plus the largest delay of the last 2 s. After an outage,
// packets that arrive faster than they are played fill the buffer; a full one is emptied.
class AudioBuffer {
 public:
  explicit AudioBuffer(double quantile);

  // Call for packets in the order of arrival.
  void OnPacket(SimTime capture_time, SimTime arrival_time);
  // A lower bound of the target.
  void SetMinimumDelay(double minimum_ms) { minimum_ms_ = minimum_ms; }

  // The time from the capture of a packet until it has been played.
  double LatencyMs() const;

 private:
  static constexpr int kBins = 100;
  struct Packet {
    SimTime capture_time;
    double latency_ms;
  };

  // Adds a packet to those of the last 2 s and returns its delay.
  double DelayMs(const Packet& packet);
  void UpdateTarget(double delay_ms, SimTime now);
  void AddToHistogram(double delay_ms);

  const double quantile_;
  // Packets of the last 2 s that are faster, or slower, than all after them.
  std::deque<Packet> fastest_;
  std::deque<Packet> slowest_;
  std::array<double, kBins> histogram_{};
  int samples_ = 0;
  SimTime interval_start_ = kNever;
  double interval_max_ms_ = 0;
  double target_ms_;
  double minimum_ms_ = 0;
  double playing_latency_ms_ = 0;
  SimTime last_arrival_ = kNever;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_AUDIO_BUFFER_H_
