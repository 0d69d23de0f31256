// By how much the sender's clock and the receiver's drift apart.
#ifndef WEIR_ARRIVAL_CLOCK_SKEW_H_
#define WEIR_ARRIVAL_CLOCK_SKEW_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// One-way delay against a clock that is slow by 1000 ppm grows by 1 ms a second, which no back-off drains. As Moon,
// Skelly and Towsley (1999) have it, the skew is the slope of the line that lies below all delays and nearest to them;
// here below the smallest delays of the last 30 seconds, one for each second.
//
// Queues and routes also make delays that grow. A clock runs on evenly: only a line that the delays come down to again
// and again, in every part of the time that it spans, is one. So a slope is taken when what it changes over that time
// is many times the largest distance that a part of it keeps from the line. Otherwise the one before holds.
class ClockSkew {
 public:
  // Two clocks are not further apart than 1000 ppm: oscillators are within 100, and NTP slews a clock by up to 500. The
  // rest is for the error of the estimate.
  static constexpr double kMax = 1.2e-3;

  // Takes in a packet's one-way delay; `time` must not be before that of an earlier call. True when the skew is another
  // than before.
  bool Update(Timestamp time, TimeDelta delay);
  // The slope of one-way delay over time, within [-kMax, kMax]; positive when the sender's clock is slow.
  double skew() const { return skew_; }

 private:
  struct Point {
    double time_s;
    double delay_s;
  };
  static constexpr size_t kPoints = 30;
  // Of the time that the points span.
  static constexpr size_t kParts = 6;

  bool Estimate();
  // Oldest first.
  const Point& At(size_t i) const { return ring_[(end_ - count_ + i) % kPoints]; }
  void DropOldPoints(double now_s);
  // The line below all points that is highest at their mean time.
  double SlopeBelow() const;
  // The largest, of the parts of the points' time, of the smallest distance to a line of this slope below all; infinite
  // when a part has no points.
  double LargestDistance(double slope) const;

  double skew_ = 0;
  Timestamp start_ = Timestamp::MinusInfinity();
  Timestamp bucket_end_ = Timestamp::MinusInfinity();
  // The smallest delay of this second.
  bool has_lowest_ = false;
  Point lowest_{};
  std::array<Point, kPoints> ring_{};
  size_t end_ = 0;
  size_t count_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_CLOCK_SKEW_H_
