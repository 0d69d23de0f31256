// Compares abs-send-time with the RTP timestamps beside it.
#ifndef WEIR_ARRIVAL_SEND_CLOCK_CHECK_H_
#define WEIR_ARRIVAL_SEND_CLOCK_CHECK_H_

#include <cstdint>
#include <limits>

#include "arrival/send_clock.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Detects an abs-send-time that stands still or runs at a wrong pace: against the receiver's clock it shows a queue
// that grows for ever, which no back-off drains. Two clocks of one stream are compared, on the first packet of each
// frame:
//
// 1. The time from capture (RTP timestamp) to departure (abs-send-time) drifts evenly, as ClockSkew accepts it, by more
//    than two clocks can differ. A queue of the pacer is not that even for 20 s, nor for 5 s in which the rate falls.
// 2. Of the two, abs-send-time has moved at least twice as far from the receiver's clock.
//
// The verdict holds until the drift is gone, or the RTP timestamps have moved twice as far. One stream is compared at a
// time; another takes its place after two seconds without it.
class SendClockCheck {
 public:
  // Every packet that is no duplicate. `arrival_time` must not be before that of an earlier call.
  void OnPacket(const PacketArrival& packet, Timestamp arrival_time, const SendTime& abs_send_time,
                const SendTime& rtp_timestamp) {
    if (packet.kind == PacketKind::kRetransmission) return;
    if (packet.ssrc != ssrc_ && !Begins(packet.ssrc, arrival_time)) return;
    size_ += packet.size();
    if (rtp_timestamp.ticks != latest_rtp_timestamp_ || !latest_.IsFinite()) {
      OnFrame(arrival_time, abs_send_time, rtp_timestamp);
    }
  }

  // The receiver's clock was set back. The verdict stays.
  void Restart();

  bool abs_send_time_is_wrong() const { return is_wrong_; }

 private:
  // True when the stream takes the place of the one that was compared.
  bool Begins(uint32_t ssrc, Timestamp arrival_time);
  void OnFrame(Timestamp arrival_time, const SendTime& abs_send_time, const SendTime& rtp_timestamp);
  void Judge(Timestamp arrival_time);

  bool is_wrong_ = false;
  uint32_t ssrc_ = 0;
  uint32_t latest_rtp_timestamp_ = 0;
  // MinusInfinity: no stream is compared.
  Timestamp latest_ = Timestamp::MinusInfinity();
  Timestamp compared_since_ = Timestamp::MinusInfinity();
  SendClock departures_;
  SendClock captures_;
  // Drift of the time from capture to departure.
  ClockSkew drift_{std::numeric_limits<double>::infinity()};
  DataSize size_ = DataSize::Zero();
  // The delays against both clocks when the present half-minute began.
  Timestamp start_ = Timestamp::MinusInfinity();
  TimeDelta first_departure_delay_ = TimeDelta::Zero();
  TimeDelta first_capture_delay_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SEND_CLOCK_CHECK_H_
