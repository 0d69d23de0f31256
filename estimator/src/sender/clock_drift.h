// Estimation of the drift of the receiver's clock against the sender's, from round trips.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_
#define WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// Half of the difference between the forward and return delays is the offset of the two clocks, as in NTP (RFC 5905,
// section 8). The shortest round trip of a second shows it best. Clock drift changes the offset and not the round trip;
// a queue or a longer route changes the round trip by twice as much. So a drift is accepted after four seconds in which
// the offset changed evenly and the round trip did not, long before one-way delays alone could show it (ClockSkew).
// Covers only a receiver's clock that gains, whose delays look like a queue: falling delays lower the base at once.
class ClockDrift {
 public:
  // Called for the latest packet that a feedback message reports, on the sender's clock. `now` is when the message
  // arrived, `round_trip` the time since the packet was sent, and `one_way_delay` that of aligned clocks. Returns the
  // amount to subtract from that delay from now on, which the next call expects. `now` must not be before that of an
  // earlier call.
  TimeDelta Update(Timestamp now, TimeDelta round_trip, TimeDelta one_way_delay);

 private:
  // The shortest round trip of a second. Offsets exclude the drift found before.
  struct Point {
    double time_s = 0;
    double round_trip_s = 0;
    double offset_s = 0;
  };
  static constexpr size_t kPoints = 10;

  void BeginSecond(Timestamp now);
  // If the points show a drift, adds it to `drift_` and returns the gain of the delays over their time.
  double Estimate();

  double drift_ = 0;
  Timestamp latest_ = Timestamp::MinusInfinity();
  Timestamp second_ends_ = Timestamp::MinusInfinity();
  Point shortest_;
  // Oldest first.
  std::array<Point, kPoints> points_{};
  size_t count_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_
