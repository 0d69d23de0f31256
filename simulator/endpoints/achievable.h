// The achievable throughput of a flow: how much of its media its link could carry.
#ifndef WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_
#define WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "scenario/capacity_trace.h"
#include "scenario/scenario.h"

namespace weir::sim {

struct ActiveSpan {
  SimTime from = kTimeZero;
  SimTime to = kTimeZero;
  // The video is paused.
  bool audio_only = false;
};

// The spans in which a flow sends, in order: its active time without pauses.
std::vector<ActiveSpan> ActiveSpans(const FlowSpec& flow);

// Treats media as a fluid:
//  1. While the flow is active, media arrives at rate r, the smaller of the media's rate m and a policer's rate p.
//     While video pauses, m is that of audio.
//  2. At most `kLongestWait` of media at rate r waits; media beyond that is not produced.
//  3. Media leaves as fast as the capacity c allows.
//  4. Where c and m exceed that rate, a policer's bucket adds media up to min(c, m). The bucket starts full and refills
//     with what is unused of p.
// So a path that serves in slots carries as much as a constant path of the same mean, and media lost to an outage is
// not recovered. Without a bucket, where c is never above r, or never below it, the result is the integral of min(c,
// r). Media that still waits when the flow or its video pauses, resumes or stops does not count.
class AchievableThroughput {
 public:
  // Calls hardly notice 100 ms, and slots and scheduling cycles of radio, cable and Wi-Fi links are not longer: bursts
  // of 20 ms every 100 ms carry as much as their mean. An outage that freezes a picture lasts longer.
  static constexpr SimDuration kLongestWait = SimDuration::Millis(100);

  // The scenario must outlive this object.
  AchievableThroughput(const Scenario& scenario, const FlowSpec& flow);

  // The bits that the link could carry from the previous call's time (0 at first) to `time`, which is not before it.
  double BitsUntil(SimTime time);

 private:
  double BitsOfSpan(SimTime from, SimTime to);
  double RateBps() const { return std::min(media_bps_, policer_bps_); }
  double MostWaitingBits() const { return RateBps() * kLongestWait.seconds(); }
  // Serves a time of constant capacity.
  double Serve(double capacity_bps, SimDuration duration);
  void FillBucket(double duration_s, double sent_bits);

  // Unlimited if empty.
  const std::optional<CapacityTrace>& capacity_;
  const double full_media_bps_;
  const double audio_bps_;
  // Infinite without a policer; the bucket's size is then 0.
  const double policer_bps_;
  const double full_bucket_bits_;
  const std::vector<ActiveSpan> spans_;
  size_t span_ = 0;
  // The media's rate in the current span.
  double media_bps_ = 0;
  SimTime time_ = kTimeZero;
  double waiting_bits_ = 0;
  double bucket_bits_;
  SimTime bucket_time_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_
