// The drift of the receiver's clock against the sender's, from round trips.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_
#define WEIR_ESTIMATOR_SRC_SENDER_CLOCK_DRIFT_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// Half of the one-way delay there less that back is the offset of two clocks, NTP's (RFC 5905, section 8), and the
// shortest round trip of a second shows it best. A clock that drifts moves the offset and leaves the round trip as it
// is; a queue or a longer route moves the round trip by twice as much. So a drift is believed after four seconds in
// which the offset moved evenly and the round trip did not, long before a one-way delay alone could tell (ClockSkew).
// Only of a receiver's clock that gains, whose delays look like a queue: those that fall have a new base at once.
class ClockDrift {
 public:
  // The latest packet that a feedback message reports, by the sender's clock: when the message came, the time since the
  // packet was sent, and its one-way delay by aligned clocks. Returns by how much that delay is to be shorter from now
  // on, which the next call takes as done. `now` must not be before that of an earlier call.
  TimeDelta Update(Timestamp now, TimeDelta round_trip, TimeDelta one_way_delay);

 private:
  // The shortest round trip of a second. Offsets are those after what earlier drift explains.
  struct Point {
    double time_s = 0;
    double round_trip_s = 0;
    double offset_s = 0;
  };
  static constexpr size_t kPoints = 10;

  void BeginSecond(Timestamp now);
  // Where the points show a drift, adds it to `drift_` and returns what delays gained in their time.
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
