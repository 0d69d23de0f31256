// When to send REMB: seldom, but never late with bad news, and again while nothing shows that it arrived.
#ifndef WEIR_REMB_THROTTLE_H_
#define WEIR_REMB_THROTTLE_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// The first target is due at once; then a decrease of 3 % or more at once, any other change after 200 ms.
//
// While packets are sparse, fewer than four in the last second, a change of less than 15 % either way waits for 500 ms:
// there is next to nothing that it could be based on, and REMB would weigh more than the audio it is about. With more
// packets it does not wait: a few per cent at a time are how a call gets up to speed, and how a queue is kept short.
//
// A target that has not changed is repeated, since feedback can be lost:
//   after 200 ms until one has been sent after the first packet: before it nobody knows whether the sender's transport
//     was ready, and a sender that was told to start high takes what it has heard by its first frame. Where none comes
//     within 10 s there may be nobody to hold, and it rests until one does;
//   after 200 ms, up to five times, while more than 1.25 times the target arrives: it looks as if the sender had not
//     heard. A REMB of 80 bytes, with what SRTCP, UDP and IP add, stays within 5 % of what arrives, RTCP's share
//     (RFC 3550, section 6.2; RFC 4585 lets feedback go early within it);
//   after 1 s otherwise, also in a blackout.
class RembThrottle {
 public:
  static constexpr TimeDelta kMinInterval = TimeDelta::Millis(200);
  static constexpr TimeDelta kSparseInterval = TimeDelta::Millis(500);
  static constexpr TimeDelta kRepeatInterval = TimeDelta::Seconds(1);
  static constexpr TimeDelta kMaxAnnouncement = TimeDelta::Seconds(10);
  static constexpr double kUrgentDecrease = 0.03;
  static constexpr double kLargeChange = 0.15;
  static constexpr size_t kSparsePackets = 4;
  static constexpr double kUnheardExcess = 1.25;
  static constexpr int kMostUnheard = 5;
  static constexpr DataSize kMinSizePerRemb = DataSize::Bytes(80 * 20);

  // `size`: of the whole RTP packet.
  void OnPacket(Timestamp arrival_time, DataSize size);
  // When feedback is due, as things stand at `now`; MinusInfinity: at once; PlusInfinity: not before something changes.
  Timestamp DueTime(DataRate target, Timestamp now) const;
  void OnSent(DataRate target, Timestamp now);

 private:
  Timestamp RepeatTime(Timestamp now) const;
  // More arrives than the last REMB lets the sender send.
  bool LooksUnheard(Timestamp now) const;
  // Of those remembered.
  Timestamp oldest_packet() const { return latest_packets_[packets_ % kSparsePackets]; }

  bool sent_ = false;
  bool sent_after_packet_ = false;
  Timestamp first_time_ = Timestamp::MinusInfinity();
  DataRate last_target_ = DataRate::Zero();
  Timestamp last_time_ = Timestamp::MinusInfinity();
  // Since the last REMB.
  DataSize received_ = DataSize::Zero();
  // Quick repetitions of the target.
  int unheard_ = 0;
  // The oldest is overwritten.
  std::array<Timestamp, kSparsePackets> latest_packets_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity(),
                                                           Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  size_t packets_ = 0;
};

}  // namespace weir

#endif  // WEIR_REMB_THROTTLE_H_
