// Detection of a link that stops repeatedly.
#ifndef WEIR_ARRIVAL_RECURRING_STOPS_H_
#define WEIR_ARRIVAL_RECURRING_STOPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "weir/units.h"

namespace weir {

// A link that serves several users in turn, or a radio that scans, stops for a moment and then delivers the packets
// that waited. Length() is the second longest among the longest stops of the last five spans of three seconds, so that
// a single outage does not count.
class RecurringStops {
 public:
  // Adds the excess of the time between two arrivals over the time between their departures.
  void Add(Timestamp time, TimeDelta stop) {
    Span& span = spans_[static_cast<size_t>(Number(time)) % spans_.size()];
    if (span.number != Number(time)) span = {Number(time)};
    span.longest = std::max(span.longest, stop);
  }

  TimeDelta Length(Timestamp now) const { return LongestTwo(now)[1]; }
  // For stops that count alone.
  TimeDelta Longest(Timestamp now) const { return LongestTwo(now)[0]; }

 private:
  struct Span {
    int64_t number = -1;
    TimeDelta longest = TimeDelta::Zero();
  };
  static int64_t Number(Timestamp time) { return time.us() / 3'000'000; }
  // The longest stops of two spans.
  std::array<TimeDelta, 2> LongestTwo(Timestamp now) const {
    TimeDelta longest = TimeDelta::Zero(), second = TimeDelta::Zero();
    for (const Span& span : spans_) {
      // A span with a higher number is from before the clock was set back.
      if (std::abs(Number(now) - span.number) >= static_cast<int64_t>(spans_.size())) continue;
      second = std::max(second, std::min(longest, span.longest));
      longest = std::max(longest, span.longest);
    }
    return {longest, second};
  }

  std::array<Span, 5> spans_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_RECURRING_STOPS_H_
