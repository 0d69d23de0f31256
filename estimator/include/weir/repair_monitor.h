// Measures at the receiver how NACK repairs losses, for RepairPolicy.
#ifndef WEIR_REPAIR_MONITOR_H_
#define WEIR_REPAIR_MONITOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "weir/repair_policy.h"
#include "weir/units.h"

namespace weir {

// Follows gaps in the sequence numbers of video, and the retransmissions (RFC 4588) that fill them. For one video, or
// the layers of one, on up to kStreams SSRCs. All numbers are untrusted; allocates nothing. Times are on one monotonic
// clock.
//
// repair_time is the median of the latest repairs. A repair that takes 50 ms longer needed a second request: the first
// one, or its answer, was lost. nack_loss_ratio is the share of those less the share of lost packets, or 0 where that
// may be chance.
class RepairMonitor {
 public:
  static constexpr size_t kStreams = 4;

  // A packet of a video stream itself, in the order of arrival.
  void OnPacket(uint32_t ssrc, uint16_t sequence_number, Timestamp now);
  // A retransmission. `original_sequence_number` is in the first two bytes of its payload.
  void OnRetransmission(uint16_t original_sequence_number, Timestamp now);
  // `in_force`: the repair since the previous call. With kFec a packet that never comes may have been FEC, which is not
  // sent again, and does not count.
  RepairObservation Observe(Timestamp now, Repair in_force);

 private:
  struct Stream {
    bool started = false;
    uint32_t ssrc = 0;
    uint16_t latest = 0;
    Timestamp last_packet = Timestamp::MinusInfinity();
  };
  struct Loss {
    bool waits = false;
    uint16_t sequence_number = 0;
    Timestamp time = Timestamp::MinusInfinity();
  };

  Stream& StreamOf(uint32_t ssrc);
  void AddLoss(uint16_t sequence_number, Timestamp now);
  // The latest loss with this number that waits, or null.
  Loss* Find(uint16_t sequence_number);
  std::optional<TimeDelta> RepairTime() const;
  double LossRatio() const;

  std::array<Stream, kStreams> streams_;
  // A ring; `next_loss_` is the oldest.
  std::array<Loss, 256> losses_;
  size_t next_loss_ = 0;
  // A ring of the latest repairs.
  std::array<int64_t, 15> repair_times_us_{};
  size_t repairs_ = 0;

  // Counts of the last seconds; what is older counts less.
  struct Counts {
    double packets = 0;
    double lost = 0;
    double requested = 0;
    double repeated = 0;
  };
  Counts counts_;
  Timestamp observed_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_REPAIR_MONITOR_H_
