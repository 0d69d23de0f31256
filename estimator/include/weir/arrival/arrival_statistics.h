// Turns hostile packets into facts: what each stream's sequence numbers and each send clock say of a packet, put
// together.
#ifndef WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_
#define WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "weir/arrival/arrival.h"
#include "weir/arrival/queueing_delay.h"
#include "weir/arrival/send_time_filter.h"
#include "weir/arrival/sequence_numbers.h"
#include "weir/arrival/ssrc_table.h"
#include "weir/units.h"

namespace weir {

// How often something odd was seen since construction.
struct ArrivalCounters {
  uint64_t duplicates = 0;  // not reported further
  uint64_t reordered = 0;   // late, but accepted
  uint64_t invalid = 0;     // impossible arrival time or size, or a lone leap in sequence numbers; not reported further
  uint64_t restarts = 0;    // streams whose sequence numbers began anew
  uint64_t send_time_outliers = 0;  // send times not believed; the packet is reported without a delay
  uint64_t clock_restarts = 0;      // a sender's clock had leapt, or the receiver's was set back by more than 3 s
  uint64_t ssrc_evictions = 0;      // streams forgotten to make room
  uint64_t fate_unknown = 0;        // packets of which nobody knows whether they arrived
};

// Memory is bounded: at most `kMaxSsrcs` streams are known, the one not heard for longest gives way to a new one and
// leaves it its memory. The first `kPreparedStreams` have theirs from the beginning; each further one takes 0.3 kB with
// its first packet, and each that has to be measured by its RTP timestamps 3 kB. No other packet allocates.
class ArrivalStatistics {
 public:
  static constexpr size_t kMaxSsrcs = SsrcTable::kSlots;
  static constexpr size_t kPreparedStreams = 8;
  // A stream that has been silent for so long, while others are heard, has ended.
  static constexpr TimeDelta kStreamTimeout = TimeDelta::Seconds(30);

  ArrivalStatistics();

  // Nothing for a duplicate or an unusable packet. The result's `packet.arrival_time` never runs backwards unless the
  // clock leapt back by more than 3 s; small steps back (packets handed over out of order) are levelled.
  //
  // abs-send-time is one clock for all streams of the sender. Where no packet has carried it for 10 s, the RTP
  // timestamp serves, one clock per stream, and only on the first packet of each timestamp: the others of a frame left
  // later than it says, and so did one that is sent again. See SendTimeFilter for what is believed of either.
  std::optional<Arrival> OnPacket(const PacketArrival& packet);

  // The host knows that the packet was sent, but not whether it arrived, as where the feedback about it was lost. Of a
  // stream that is not known it says nothing. See SequenceNumbers::AddUnknown().
  void OnPacketFateUnknown(uint32_t ssrc, uint16_t sequence_number);

  // The stream has ended, as RTCP BYE or the host's signalling says; it may begin again.
  void RemoveStream(uint32_t ssrc);

  const ArrivalCounters& counters() const { return counters_; }
  // Writes the SSRCs of the streams that have not ended, most recently heard first, as far as `out` reaches; returns
  // how many. In a silence of all none ends.
  size_t Ssrcs(std::span<uint32_t> out) const;

 private:
  // Against one clock of the sender.
  struct Delay {
    SendTimeFilter send_times;
    QueueingDelay queueing_delay;
    // Of what was sent, as far as it is known, since the last packet that was measured.
    DataSize size = DataSize::Zero();
  };
  struct Stream {
    // Forgets everything that is measured by RTP timestamps.
    void RestartDelay();

    SequenceNumbers sequence_numbers;
    // Null until an RTP timestamp has to serve.
    std::unique_ptr<Delay> delay;
    bool has_rtp_timestamp = false;
    // The latest that was believed.
    uint32_t rtp_timestamp = 0;
    Timestamp last_heard = Timestamp::MinusInfinity();
    bool removed = false;
    // Of packets whose fate is unknown; goes into the next arrival.
    int32_t lost_change = 0;
  };

  // False: the packet goes no further, and is counted.
  bool ReadSequenceNumber(const PacketArrival& packet, bool is_new, Stream& stream, Arrival& arrival);
  void ReadArrivalTime(Timestamp arrival_time);
  static bool IsNewRtpTimestamp(const PacketArrival& packet, const Stream& stream);
  void ReadSendTime(const PacketArrival& packet, Stream& stream, Arrival& arrival);
  // False when `sent` is not believed.
  bool MeasureDelay(Timestamp arrival_time, const SendTime& sent, Delay& delay);

  SsrcTable ssrcs_;
  // One for each slot of the table; null where there has been no stream yet.
  std::array<std::unique_ptr<Stream>, kMaxSsrcs> streams_;

  Delay abs_send_time_delay_;
  bool has_abs_send_time_ = false;
  Timestamp last_abs_send_time_ = Timestamp::MinusInfinity();
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  TimeDelta queueing_delay_ = TimeDelta::Zero();
  bool delay_stands_ = false;
  TimeDelta delay_change_ = TimeDelta::Zero();
  ArrivalCounters counters_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_ARRIVAL_STATISTICS_H_
