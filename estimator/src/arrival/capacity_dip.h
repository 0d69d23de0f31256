// Detection of a link whose capacity falls for a moment.
#ifndef WEIR_ARRIVAL_CAPACITY_DIP_H_
#define WEIR_ARRIVAL_CAPACITY_DIP_H_

#include <algorithm>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// A radio link that is blocked, such as one at 60 GHz behind a person who passes, delivers a small share of its
// capacity for less than a second, and all of it at once after that. With R the receive rate of the whole second
// before, a dip
//
// 1. lasts while delays grow by at least 0.75 s per second. Its length, L, is that growth, 100 ms to 1 s;
// 2. delivers at most R / 4, since the packets of a large frame on a slow link also delay each other, at the full rate;
// 3. ends when the queue drains to L / 8, within L and at R or more, so the link again carries the rate before the dip.
//    After a fade or a drop of the capacity it does not;
// 4. delays at least ten packets of 1200 bytes at R: delays of fewer packets may be jitter;
// 5. begins after packets that did not wait for 50 ms during L or longer. A link that often stops carries less than it
//    delivers between two stops.
class CapacityDip {
 public:
  // Sets the receive rate of the latest whole second.
  void SetRate(DataRate rate) { latest_rate_ = rate; }

  // Called for each packet with a delay, with its queueing delay and the size of all packets up to it. `time` must not
  // be before that of an earlier call. Returns the length of the dip if its queue has drained with this packet, else
  // zero.
  TimeDelta OnArrival(Timestamp time, TimeDelta delay, DataSize total) {
    const Point packet{time, delay, total};
    if (!drains_ && Grows(packet)) {
      if (Length() < kShortest) before_ = latest_rate_;
      if (delay >= peak_.delay) peak_ = packet;
      return TimeDelta::Zero();
    }
    drains_ = MayDrain(packet);
    if (drains_ && delay - start_.delay > Length() * kDrained) return TimeDelta::Zero();
    const bool is_dip = drains_ && IsDeep() && BeginsWithoutQueue() && Delivers(peak_, packet, before_);
    const TimeDelta length = is_dip ? Length() : TimeDelta::Zero();
    if (std::max(peak_.delay, packet.delay) >= kBegins) latest_wait_ = packet.time;
    start_ = peak_ = packet;
    drains_ = false;
    return length;
  }

  // Time since the start of delays that grow as in 1, once they have grown by 50 ms, else zero.
  TimeDelta Elapsed(Timestamp now) const {
    return !drains_ && Length() >= kBegins ? now - start_.time : TimeDelta::Zero();
  }
  // True after such growth by 100 ms, until the queue has drained or it is no dip.
  bool drains() const { return drains_; }

 private:
  struct Point {
    Timestamp time = Timestamp::MinusInfinity();
    TimeDelta delay = TimeDelta::Zero();
    DataSize total = DataSize::Zero();
  };
  static constexpr double kGrowth = 0.75;
  static constexpr double kDeep = 0.25;
  static constexpr double kDrained = 0.125;
  static constexpr TimeDelta kBegins = TimeDelta::Millis(50);
  static constexpr TimeDelta kShortest = TimeDelta::Millis(100);
  static constexpr TimeDelta kLongest = TimeDelta::Seconds(1);
  static constexpr DataSize kFewest = kFullPacket * 10;

  TimeDelta Length() const { return peak_.delay - start_.delay; }
  bool Grows(const Point& packet) const {
    return start_.time.IsFinite() && packet.delay - start_.delay >= (packet.time - start_.time) * kGrowth;
  }
  bool MayDrain(const Point& packet) const {
    const TimeDelta length = Length();
    return length >= kShortest && length <= kLongest && before_ * length >= kFewest && packet.delay <= peak_.delay &&
           packet.time - peak_.time <= length;
  }
  bool IsDeep() const { return peak_.total - start_.total <= before_ * kDeep * (peak_.time - start_.time); }
  bool BeginsWithoutQueue() const { return start_.time - latest_wait_ >= Length(); }
  static bool Delivers(const Point& from, const Point& to, DataRate rate) {
    return to.total - from.total >= rate * (to.time - from.time);
  }

  DataRate latest_rate_ = DataRate::Zero();
  // The packet before the growth, the one that waited the longest since, and R.
  Point start_;
  Point peak_;
  DataRate before_ = DataRate::Zero();
  // The latest packet that waited for kBegins before the growth.
  Timestamp latest_wait_ = Timestamp::MinusInfinity();
  bool drains_ = false;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_CAPACITY_DIP_H_
