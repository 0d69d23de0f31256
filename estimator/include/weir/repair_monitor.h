// Measures at the receiver how NACK repairs losses, for RepairPolicy.
#ifndef WEIR_REPAIR_MONITOR_H_
#define WEIR_REPAIR_MONITOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weir/repair_policy.h"
#include "weir/units.h"

namespace weir {

// Follows gaps in the sequence numbers of video, and the retransmissions (RFC 4588) that fill them. For one video, or
// the layers of one, on up to kStreams SSRCs. All numbers are untrusted; allocates nothing. Times are on one monotonic
// clock.
//
// repair_time is the median of the latest repairs. A repair that takes 50 ms longer needed a second request: the first
// one, or its answer, was lost. Gaps in the retransmissions' own sequence numbers are lost answers: a queue that
// overflows drops a packet and its retransmission more often than its mean loss. nack_loss_ratio is the share of second
// requests less the share of lost answers or of lost packets, whichever is larger, or 0 where that may be chance.
class RepairMonitor {
 public:
  static constexpr size_t kStreams = 4;

  // A packet of a video stream itself, in the order of arrival.
  void OnPacket(uint32_t ssrc, uint16_t sequence_number, Timestamp now);
  // A packet of a retransmission stream, in the order of arrival. `payload` begins with the original sequence number; a
  // payload of less than two bytes is padding.
  void OnRetransmission(uint32_t ssrc, uint16_t sequence_number, std::span<const uint8_t> payload, Timestamp now);
  // `in_force`: the repair since the previous call. With kFec, and for a second after it, a packet that never comes may
  // have been FEC, which is not sent again, and does not count.
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

  using Streams = std::array<Stream, kStreams>;
  static Stream& StreamOf(Streams& streams, uint32_t ssrc);
  // The number of packets missing before this one, 0 after a new beginning of the stream; -1 if the packet is late.
  static int Advance(Stream& stream, uint16_t sequence_number, Timestamp now);
  void AddLoss(uint16_t sequence_number, Timestamp now);
  bool CameEarly(uint16_t sequence_number) const;
  // The latest loss with this number that waits, or null.
  Loss* Find(uint16_t sequence_number);
  std::optional<TimeDelta> RepairTime() const;
  double LossRatio() const;

  Streams streams_;
  Streams retransmission_streams_;
  // A ring; `next_loss_` is the oldest.
  std::array<Loss, 256> losses_;
  size_t next_loss_ = 0;
  // A ring of the latest repairs.
  std::array<int64_t, 15> repair_times_us_{};
  size_t repairs_ = 0;
  // A ring of the latest retransmissions without a loss: a sender that probes sends its latest packets again, which may
  // come before the gap that the packet itself left.
  std::array<std::optional<uint16_t>, 16> early_{};
  size_t next_early_ = 0;

  // Counts of the last seconds; what is older counts less.
  struct Counts {
    double packets = 0;
    double lost = 0;
    double requested = 0;
    double repeated = 0;
    // With padding.
    double retransmissions = 0;
    double lost_retransmissions = 0;
  };
  Counts counts_;
  Timestamp observed_ = Timestamp::MinusInfinity();
  Timestamp last_fec_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_REPAIR_MONITOR_H_
