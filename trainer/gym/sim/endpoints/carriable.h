// What a link could carry of a flow's media.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_CARRIABLE_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_CARRIABLE_H_

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

// Media as a fluid: while the flow is active it comes at the most that the media may send and a policer lets through,
// waits for at most `kLongestWaitNs` at that rate (what comes then is not made), and leaves as fast as the capacity
// carries it. A path that serves in slots so carries what one of the same mean does, an outage is not made up for, and
// where the capacity never exceeds that rate, or never falls below it, this is the integral of the smaller of both.
// While video pauses, the media may send audio. What still waits when the flow or its video pauses, resumes or stops
// does not count.
class Carriable {
 public:
  // 100 ms is what a call hardly notices, and as long as the slots and scheduling cycles of radio, cable and Wi-Fi
  // links are at most: bursts of 20 ms every 100 ms carry what their mean does. An outage that freezes a picture is
  // longer.
  static constexpr int64_t kLongestWaitNs = 100'000'000;

  // The scenario outlives this.
  Carriable(const Scenario& scenario, const FlowSpec& flow);

  // Bits that could have been carried from the last call's time (0 at first) to this one, which is not before it.
  double BitsUntil(int64_t time_ns);

 private:
  double BitsOfSpan(int64_t from_ns, int64_t to_ns);
  double MostWaitingBits() const { return rate_bps_ * static_cast<double>(kLongestWaitNs) * 1e-9; }
  // Of a stretch with one rate.
  double Serve(double capacity_bps, int64_t duration_ns);

  // Nothing: unlimited.
  const std::optional<CapacityTrace>& capacity_;
  const double media_bps_;
  const double audio_bps_;
  const std::vector<ActiveSpan> spans_;
  size_t span_ = 0;
  // In that span.
  double rate_bps_ = 0;
  int64_t time_ns_ = 0;
  double waiting_bits_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_CARRIABLE_H_
