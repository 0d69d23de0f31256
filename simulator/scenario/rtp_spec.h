// An RTP flow of a scenario: its controller, its media, its sender's clock.
#ifndef WEIR_SIMULATOR_SCENARIO_RTP_SPEC_H_
#define WEIR_SIMULATOR_SCENARIO_RTP_SPEC_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/piecewise_constant.h"
#include "core/sim_time.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir::sim {

// Start and end of each pause, in order and without overlap.
using Pauses = std::vector<std::pair<SimTime, SimTime>>;
// Nearly three per second for an hour. The time of a run grows faster than the number of pauses.
inline constexpr size_t kMaxPauses = 10'000;

struct MediaSpec {
  enum class Kind { kFiller, kVideo };
  Kind kind = Kind::kFiller;
  // Filler: the whole rate. Video: the encoder's, including headers but not audio.
  DataRate max_rate = DataRate::Zero();
  // The members below are only for video.
  double frames_per_second = 0;
  SimDuration key_frame_interval = SimDuration::Zero();
  // Rate of the payload; zero without audio.
  DataRate audio_rate = DataRate::Zero();
  double audio_packets_per_second = 0;
  // No frame is captured in a pause, and the first one after it is a key frame.
  Pauses video_pauses;
  // Below 1, content at times needs fewer bits than the target allows: the encoder's output is a share of its target,
  // between this and 1, that changes about every second.
  double minimum_output_share = 1;
  // Probability per frame that an overloaded camera or encoder skips the next frames.
  double stall_probability = 0;
  // If either is above zero, the logarithm of the encoder's rate follows that of its target with these time constants,
  // and abrupt changes cause no burst.
  double rise_time_constant_s = 0;
  double fall_time_constant_s = 0;
  // The first rate of the encoder, headers included; if zero, its first target.
  DataRate initial_rate = DataRate::Zero();

  // Video is repaired, filler is not.
  bool is_repaired() const { return kind == Kind::kVideo; }

  template <class Reader>
  void Read(Reader& read) {
    read.Choice("kind", kind, {"filler", "video"});
    read.Rate("max_rate_bps", max_rate);
    if (kind == Kind::kFiller) return;
    // Bounded because each frame and packet is an event.
    read.Number("frames_per_second", frames_per_second, {.min = 0.1, .max = 1000});
    read.Seconds("key_frame_interval_s", key_frame_interval);
    read.Rate("audio_rate_bps", audio_rate, 0);
    read.Number("audio_packets_per_second", audio_packets_per_second, {.min = 0.1, .max = 1000});
    read.Pauses("video_pauses_s", video_pauses);
    read.Number("minimum_output_share", minimum_output_share);
    read.Number("stall_probability", stall_probability);
    read.Number("rise_time_constant_s", rise_time_constant_s);
    read.Number("fall_time_constant_s", fall_time_constant_s);
    read.Rate("initial_rate_bps", initial_rate, 0);
  }
};

// The sender's clock as abs-send-time and RTP timestamps show it.
struct SenderClock {
  // The frequency error in parts per million, positive if the clock is fast.
  double ppm = 0;
  // Its reading at time 0.
  SimDuration offset = SimDuration::Zero();
  // The sum of the steps by which it has been set so far.
  PiecewiseConstant<SimDuration> set = SimDuration::Zero();

  // Its reading at `time`; may be below 0.
  SimTime Shown(SimTime time) const {
    const int64_t drift_ns = ppm == 0 ? 0 : std::llround(static_cast<double>(time.ns()) * ppm * 1e-6);
    return time + offset + set.At(time) + SimDuration::Nanos(drift_ns);
  }

  // Converts an arrival time in transport feedback to that which a controller at the sender receives. The sender's own
  // times are exact here, so the receiver's clock drifts, and is set, in the opposite direction.
  int64_t ArrivalAtSender(int64_t receive_time_us) const {
    const int64_t set_us = set.At(SimTime::Micros(receive_time_us)).us();
    if (ppm == 0) return receive_time_us - set_us;
    return std::llround(static_cast<double>(receive_time_us - set_us) / (1 + ppm * 1e-6));
  }
};

struct RtpSpec {
  static constexpr std::string_view kName = "rtp";
  static constexpr bool kHasAccessPath = true;
  // "under_test", a controller's name, or a pool's specification.
  std::string controller;
  // Target of the constant-rate controller. If empty, half the link's mean capacity, or `start_rate` if unlimited.
  std::optional<DataRate> fixed_rate;
  DataRate min_rate = DataRate::Zero();
  DataRate start_rate = DataRate::Zero();
  std::optional<Objective> objective;
  // The flow sends nothing during pauses.
  Pauses pauses;
  SenderClock sender_clock;
  // The receiver's answer includes transport-cc, so that a sender that follows REMB has GCC's pacing and window.
  bool transport_cc = true;
  MediaSpec media;

  template <class Reader>
  void Read(Reader& read) {
    read.Text("controller", controller);
    if (read.Has("fixed_rate_bps")) read.Rate("fixed_rate_bps", fixed_rate.emplace(DataRate::Zero()));
    read.Rate("min_rate_bps", min_rate);
    read.Rate("start_rate_bps", start_rate);
    if (read.Has("objective")) read.Weights("objective", objective.emplace());
    read.Pauses("pauses_s", pauses);
    if (read.Has("sender_clock_ppm")) read.Number("sender_clock_ppm", sender_clock.ppm, {.min = -5000, .max = 5000});
    if (read.Has("sender_clock_offset_s")) read.Seconds("sender_clock_offset_s", sender_clock.offset);
    if (read.Has("sender_clock_steps")) read.ClockSteps("sender_clock_steps", sender_clock.set);
    read.Flag("transport_cc", transport_cc);
    read.Object("media", media);
    if (min_rate > std::min(start_rate, media.max_rate))
      read.Refuse("min_rate_bps", "must be at most start_rate_bps and media.max_rate_bps");
  }

  std::optional<DataRate> constant_rate() const { return std::nullopt; }
  bool takes_its_share() const { return true; }
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_RTP_SPEC_H_
