// The achievable throughput of a flow: how much of its media its link could carry.
#ifndef WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_
#define WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/capacity_trace.h"
#include "scenario/scenario.h"

namespace weir::sim {

struct ActiveSpan {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  // Its video is paused.
  bool audio_only = false;
};

// When a flow sends: its active time without the pauses, in order.
std::vector<ActiveSpan> ActiveSpans(const FlowSpec& flow);

// Treats media as a fluid:
//  1. While the flow is active, media arrives at rate r, the smaller of the media's rate m and a policer's rate p.
//     While video pauses, m is that of audio.
//  2. It waits for at most `kLongestWaitNs` at rate r; media beyond that is not made.
//  3. It leaves as fast as the capacity c carries it.
//  4. Where c and m are above that, a policer's bucket adds media up to min(c, m). The bucket is full at first, and
//     fills with what the media leaves of p.
// So a path that serves in slots carries what a path of the same mean does, and an outage is not made up for. Without a
// bucket, where c is never above r, or never below it, the result is the integral of min(c, r). Media that still waits
// when the flow or its video pauses, resumes or stops does not count.
class AchievableThroughput {
 public:
  // A call hardly notices 100 ms, and the slots and scheduling cycles of radio, cable and Wi-Fi links are no longer:
  // bursts of 20 ms every 100 ms carry as much as their mean. An outage that freezes a picture lasts longer.
  static constexpr int64_t kLongestWaitNs = 100'000'000;

  // The scenario outlives this.
  AchievableThroughput(const Scenario& scenario, const FlowSpec& flow);

  // Bits that could have been carried from the last call's time (0 at first) to this one, which is not before it.
  double BitsUntil(int64_t time_ns);

 private:
  double BitsOfSpan(int64_t from_ns, int64_t to_ns);
  double RateBps() const { return std::min(media_bps_, policer_bps_); }
  double MostWaitingBits() const { return RateBps() * static_cast<double>(kLongestWaitNs) * 1e-9; }
  // Serves a stretch with one rate.
  double Serve(double capacity_bps, int64_t duration_ns);
  void FillBucket(double duration_s, double sent_bits);

  // Nothing: unlimited.
  const std::optional<CapacityTrace>& capacity_;
  const double full_media_bps_;
  const double audio_bps_;
  // Infinite without a policer, which also has no bucket.
  const double policer_bps_;
  const double full_bucket_bits_;
  const std::vector<ActiveSpan> spans_;
  size_t span_ = 0;
  // In that span.
  double media_bps_ = 0;
  int64_t time_ns_ = 0;
  double waiting_bits_ = 0;
  double bucket_bits_;
  int64_t bucket_time_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_ACHIEVABLE_H_
