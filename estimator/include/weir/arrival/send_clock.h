// One-way delay against one clock of the sender that counts ticks and wraps: abs-send-time, or the RTP timestamps of a
// stream.
#ifndef WEIR_ARRIVAL_SEND_CLOCK_H_
#define WEIR_ARRIVAL_SEND_CLOCK_H_

#include <cstdint>

#include "weir/units.h"

namespace weir {

// When a packet was sent, as the sender's clock says.
struct SendTime {
  // Below 2^bits.
  uint32_t ticks = 0;
  // Width of the counter that `ticks` is of, 1 to 32.
  int bits = 32;
  // Within [1000, 1'000'000].
  int64_t ticks_per_second = 0;

  // The same counter `time` later; it wraps.
  SendTime After(TimeDelta time) const;
};

// The two clocks have no common origin, so delays count from that of the first packet. A wrap is told from a pause by
// the arrival clock: of all the send times that the field can mean, the one nearest to what the arrival time suggests
// is taken. What it says is believed: see SendTimeFilter.
class SendClock {
 public:
  struct Result {
    // Against the first packet since the last restart; negative for a packet that was quicker.
    TimeDelta one_way_delay;
    // Against the packet before.
    TimeDelta change;
    // The first packet ever, or of another clock rate: its delay is zero, and compares with none before it.
    bool restarted;
  };

  // Whether Update would restart.
  bool restarts_at(const SendTime& sent) const {
    return !started_ || sent.ticks_per_second != last_sent_.ticks_per_second;
  }
  // `arrival` must be a time (IsTime).
  Result Update(Timestamp arrival, const SendTime& sent);

  // What a send time says where it does not restart the clock.
  struct Reading {
    // Since the restart.
    int64_t unwrapped_ticks;
    TimeDelta one_way_delay;
  };
  // Takes nothing in.
  Reading Read(Timestamp arrival, const SendTime& sent) const;
  // The same as Update, for what has just been read.
  Result Update(Timestamp arrival, const SendTime& sent, const Reading& reading);

 private:
  // Since the packet before.
  int64_t TicksSinceLast(Timestamp arrival, const SendTime& sent) const;

  bool started_ = false;
  SendTime last_sent_;
  // Since the restart.
  int64_t unwrapped_ticks_ = 0;
  Timestamp start_ = Timestamp::MinusInfinity();
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  TimeDelta last_delay_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SEND_CLOCK_H_
