// When to send REMB: seldom, but never late with bad news.
#ifndef WEIR_REMB_THROTTLE_H_
#define WEIR_REMB_THROTTLE_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// The first target is due at once; then a decrease of 3 % or more at once, any other change after 200 ms, and no change
// at all after 1 s, since feedback can be lost.
//
// While packets are sparse, fewer than four in the last second, a change of less than 15 % either way waits for 500 ms:
// there is next to nothing that it could be based on, and REMB would weigh more than the audio it is about. With more
// packets it does not wait: a few per cent at a time are how a call gets up to speed, and how a queue is kept short.
class RembThrottle {
 public:
  static constexpr TimeDelta kMinInterval = TimeDelta::Millis(200);
  static constexpr TimeDelta kSparseInterval = TimeDelta::Millis(500);
  static constexpr TimeDelta kRepeatInterval = TimeDelta::Seconds(1);
  static constexpr double kUrgentDecrease = 0.03;
  static constexpr double kLargeChange = 0.15;
  static constexpr size_t kSparsePackets = 4;

  void OnPacket(Timestamp arrival_time) { latest_packets_[packets_++ % kSparsePackets] = arrival_time; }
  // When feedback is due, as things stand at `now`; MinusInfinity: at once.
  Timestamp DueTime(DataRate target, Timestamp now) const;
  void OnSent(DataRate target, Timestamp now);

 private:
  bool sent_ = false;
  DataRate last_target_ = DataRate::Zero();
  Timestamp last_time_ = Timestamp::MinusInfinity();
  // The oldest is overwritten.
  std::array<Timestamp, kSparsePackets> latest_packets_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity(),
                                                           Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  size_t packets_ = 0;
};

}  // namespace weir

#endif  // WEIR_REMB_THROTTLE_H_
