// Estimation of the drift of the receiver's clock against the sender's, from round trips.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_
#define WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "weir/units.h"

namespace weir {

// Detects that the receiver's clock gains on the sender's, which makes its one-way delays grow like a queue.
//
// Half of the difference between the forward and return delays is the offset of the two clocks, as in NTP (RFC 5905,
// section 8). Drift changes the offset and not the round trip; a queue or a longer route in one direction changes the
// round trip by twice as much as the offset. So a drift shows after four seconds, long before one-way delays alone
// could show it (ClockSkew):
//
// 1. Of each second, keep the sample with the shortest round trip, which had the least queue (the minimum filter of
//    RFC 5905, section 10). Its offset is the one-way delay minus half the round trip.
// 2. Fit a line through the offsets of the last 5 to 10 seconds, and one through the round trips, by least squares.
// 3. The slope of the offsets is drift if they lie close to their line, and the round trip changed by much less.
// 4. Add the slope to the drift, and begin again with offsets from which that drift is subtracted.
//
// A drift that was found goes on while no feedback arrives. Covers only a receiver's clock that gains: the delays of
// one that loses fall, which lowers their base at once.
class ClockDrift {
 public:
  // Called for the latest packet that a feedback message reports, on the sender's clock. `now` is when the message
  // arrived, `round_trip` the time since the packet was sent, and `one_way_delay` that of aligned clocks. Returns the
  // amount to subtract from that delay from now on, which the next call expects. `now` must not be before that of an
  // earlier call.
  TimeDelta Update(Timestamp now, TimeDelta round_trip, TimeDelta one_way_delay);

 private:
  // The shortest round trip of a second. Offsets exclude the drift found before.
  struct Sample {
    double time_s = 0;
    double round_trip_s = 0;
    double offset_s = 0;
  };
  static constexpr size_t kSamples = 10;

  void BeginSecond(Timestamp now);
  void EndSecond();
  // The drift that the samples show on top of `drift_`, in seconds per second; nothing if they show none.
  std::optional<double> FindDrift() const;
  std::span<const Sample> samples() const { return {samples_.data(), count_}; }

  // Sum of the drifts found, in seconds per second; at least 0.
  double drift_ = 0;
  Timestamp latest_update_ = Timestamp::MinusInfinity();
  Timestamp second_ends_ = Timestamp::MinusInfinity();
  // The best sample of the present second. Its round trip is infinite before the first.
  Sample best_;
  // The first `count_` are valid, the oldest first.
  std::array<Sample, kSamples> samples_{};
  size_t count_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_
