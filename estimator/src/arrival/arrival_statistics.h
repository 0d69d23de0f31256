// Checks RTP packets, which are untrusted, and derives loss and queueing delay from their sequence numbers and send
// times.
#ifndef WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_
#define WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "arrival/queueing_delay.h"
#include "arrival/rtp_streams.h"
#include "arrival/send_clock.h"
#include "arrival/send_clock_check.h"
#include "arrival/stream_loss.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Memory is bounded: there are at most kMaxSsrcs streams, and a new one then takes the memory of the one with the
// oldest packet. The first kPreparedStreams have their memory from the beginning. Each further one allocates 0.3 kB
// with its first packet, and each that is measured by its RTP timestamps 3 kB. No other packet allocates.
class ArrivalStatistics {
 public:
  static constexpr size_t kMaxSsrcs = SsrcTable::kSlots;
  static constexpr size_t kPreparedStreams = 8;
  // A stream ends after this time without packets while others have some.
  static constexpr TimeDelta kStreamTimeout = TimeDelta::Seconds(30);

  ArrivalStatistics();

  // Returns nothing for a duplicate or an unusable packet. The result's `packet.arrival_time` never runs backwards
  // unless the clock was set back by more than 3 s; smaller steps back (packets reported out of order) are removed.
  //
  // abs-send-time is one clock for all streams of the sender. After 10 s without it, RTP timestamps replace it, with
  // one clock per stream and only on the first packet of each timestamp: the other packets of a frame, and
  // retransmissions, left later. abs-send-time replaces RTP timestamps from its 20th packet on. RTP timestamps also
  // replace an abs-send-time that stands still or runs at a wrong pace (SendClockCheck). See SendTimeFilter for
  // implausible send times.
  //
  // Loss of a stream of audio or video that two comparable streams, and at least half of those, do not share is not
  // reported: the packets were lost before they reached the link that all share.
  std::optional<Arrival> OnPacket(const PacketArrival& packet);

  void RemoveStream(uint32_t ssrc);
  // The target is near the minimum, so a sender at up to this rate cannot decrease it further. Zero if the target is
  // not near the minimum.
  void SetLowestRate(DataRate rate) { lowest_rate_ = rate; }

  const ArrivalCounters& counters() const { return counters_; }
  // See BandwidthEstimator. No stream ends while no stream has packets.
  size_t Ssrcs(std::span<uint32_t> out) const;

 private:
  // Delay measured against one clock of the sender.
  struct Delay {
    SendTimeFilter send_times;
    QueueingDelay queueing_delay;
    // Bytes sent, as far as is visible, and received since the last measured packet.
    DataSize size = DataSize::Zero();
    DataSize received = DataSize::Zero();
  };
  // Send time of a packet, as its header has it.
  struct SentPacket {
    // False only if `packet` was sent no later. True if the times are unknown.
    bool IsBefore(const PacketArrival& packet) const;

    bool has_abs_send_time = false;
    uint32_t abs_send_time = 0;
    bool has_rtp_timestamp = false;
    uint32_t rtp_timestamp = 0;
  };
  struct Stream {
    // Drops everything measured by RTP timestamps.
    void RestartDelay();

    SequenceNumbers sequence_numbers;
    SentPacket newest;
    StreamLoss loss;
    // Null until RTP timestamps are used.
    std::unique_ptr<Delay> delay;
    bool has_rtp_timestamp = false;
    // The latest plausible RTP timestamp.
    uint32_t rtp_timestamp = 0;
    Timestamp last_heard = Timestamp::MinusInfinity();
    bool removed = false;
  };

  // False if the packet was counted and is dropped.
  bool ReadSequenceNumber(const PacketArrival& packet, bool is_new, Stream& stream, Arrival& arrival);
  void ReadArrivalTime(Timestamp arrival_time);
  // Returns the part of `lost_change` that counts for the link.
  int32_t LossOnLink(Stream& stream, PacketKind kind, int32_t lost_change);
  bool IsUpstream(const Stream& stream) const;
  // Called when the receiver's clock was set back.
  void RestartClock(Timestamp arrival_time);
  static bool IsNewRtpTimestamp(const PacketArrival& packet, const Stream& stream);
  void CheckSendClock(const PacketArrival& packet, const SendTime& abs_send_time, const SendTime& rtp_timestamp);
  void ReadSendTime(const PacketArrival& packet, Stream& stream, Arrival& arrival);
  // False if `sent` is implausible.
  bool MeasureDelay(Timestamp arrival_time, const SendTime& sent, Delay& delay);

  SsrcTable ssrcs_;
  // One for each slot of the table; null before the slot's first stream.
  std::array<std::unique_ptr<Stream>, kMaxSsrcs> streams_;

  Delay abs_send_time_delay_;
  SendClockCheck send_clock_check_;
  bool has_abs_send_time_ = false;
  Timestamp last_abs_send_time_ = Timestamp::MinusInfinity();
  // True if the latest delays are from RTP timestamps; and the number of packets with abs-send-time since.
  bool measures_by_rtp_ = false;
  int abs_send_times_ = 0;
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  // When the streams' losses were last aged.
  Timestamp losses_aged_ = Timestamp::MinusInfinity();
  DataRate lowest_rate_ = DataRate::Zero();
  // Result for the latest plausible send time.
  QueueingDelay::Result measured_;
  ArrivalCounters counters_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_
