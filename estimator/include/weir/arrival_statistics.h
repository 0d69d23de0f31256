// Turns hostile packets into facts: unwraps sequence numbers and send times, removes duplicates, counts loss, and
// compares each one-way delay with the smallest of the last half minute.
#ifndef WEIR_ARRIVAL_STATISTICS_H_
#define WEIR_ARRIVAL_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// How often something odd was seen since construction.
struct ArrivalCounters {
  uint64_t duplicates = 0;  // not reported further
  uint64_t reordered = 0;   // late, but accepted
  uint64_t invalid = 0;     // impossible arrival time or size, or a lone leap in sequence numbers; not reported further
  uint64_t restarts = 0;    // streams whose sequence numbers began anew
  uint64_t clock_restarts = 0;  // delay filters emptied because a clock had leapt by more than 3 s
  uint64_t ssrc_evictions = 0;  // streams forgotten to make room
};

namespace internal {

// The received sequence numbers of one stream, after RFC 3550 appendix A.1.
class SequenceNumbers {
 public:
  enum class Verdict { kNew, kLate, kDuplicate, kLeap, kRestart };
  struct Result {
    Verdict verdict;
    int64_t sequence_number;
    int32_t lost_change;
  };

  void Start(uint16_t sequence_number);
  Result Add(uint16_t sequence_number);

 private:
  static constexpr int64_t kMaxDropout = 3000;
  // Packets later than this are told from a restart no more.
  static constexpr int64_t kWindow = 2048;

  bool Received(int64_t number) const { return (received_[Word(number)] & Bit(number)) != 0; }
  void Mark(int64_t number) { received_[Word(number)] |= Bit(number); }
  void Unmark(int64_t number) { received_[Word(number)] &= ~Bit(number); }
  static size_t Word(int64_t number) { return static_cast<size_t>((number & (kWindow - 1)) >> 6); }
  static uint64_t Bit(int64_t number) { return uint64_t{1} << (number & 63); }
  void Advance(int64_t number);

  int64_t first_ = 0;
  int64_t highest_ = 0;
  // The number that would confirm a restart after a leap; beyond 16 bits: none.
  uint32_t restart_candidate_ = 0x10000;
  std::array<uint64_t, kWindow / 64> received_{};
};

// The smallest value of the last 30 s, in steps of 3 s.
class WindowedMinimum {
 public:
  void Restart(int64_t time_us, int64_t value);
  // `time_us` must not be before that of the previous call.
  int64_t Update(int64_t time_us, int64_t value);

 private:
  static constexpr int64_t kBucketUs = 3'000'000;
  static constexpr size_t kBuckets = 10;

  std::array<int64_t, kBuckets> buckets_{};
  size_t current_ = 0;
  int64_t bucket_end_us_ = 0;
  int64_t minimum_ = 0;
};

// One-way delay against one send clock that wraps at `bits` bits. A wrap is told from a pause by the arrival clock: of
// all the send times that the field can mean, the one nearest to what the arrival time suggests is taken.
class OneWayDelay {
 public:
  struct Result {
    TimeDelta queueing_delay;
    TimeDelta change;
    bool restarted;
  };

  // `ticks_per_second` must be within [1000, 1'000'000].
  Result Update(int64_t arrival_us, uint32_t ticks, int bits, int64_t ticks_per_second);

 private:
  void Restart(int64_t arrival_us, uint32_t ticks, int64_t ticks_per_second);

  bool started_ = false;
  int64_t ticks_per_second_ = 0;
  uint32_t last_ticks_ = 0;
  // Since the restart.
  int64_t unwrapped_ticks_ = 0;
  int64_t start_us_ = 0;
  int64_t last_arrival_us_ = 0;
  int64_t latest_arrival_us_ = 0;
  int64_t last_delay_us_ = 0;
  WindowedMinimum base_delay_us_;
};

}  // namespace internal

// Memory is bounded and all of it is taken at construction: at most `kMaxSsrcs` streams are known, the one not heard
// for longest gives way to a new one.
class ArrivalStatistics {
 public:
  static constexpr size_t kMaxSsrcs = 256;

  ArrivalStatistics();

  // Nothing for a duplicate or an unusable packet. The result's `packet.arrival_time` never runs backwards unless the
  // clock leapt back by more than 3 s; small steps back (packets handed over out of order) are levelled.
  //
  // abs-send-time is one clock for all streams of the sender. Where no packet has carried it for 10 s, the RTP
  // timestamp serves, one clock per stream, and only on the first packet of each timestamp: the others of a frame left
  // later than it says.
  std::optional<Arrival> OnPacket(const PacketArrival& packet);

  const ArrivalCounters& counters() const { return counters_; }
  // Writes the known SSRCs, most recently heard first, as far as `out` reaches; returns how many.
  size_t Ssrcs(std::span<uint32_t> out) const;

 private:
  struct Stream {
    internal::SequenceNumbers sequence_numbers;
    internal::OneWayDelay delay;
    bool has_rtp_timestamp = false;
    uint32_t rtp_timestamp = 0;
  };

  Stream& Find(uint32_t ssrc, bool& is_new);
  void MeasureDelay(const PacketArrival& packet, int64_t arrival_us, Stream& stream, Arrival& arrival);

  // Apart from the streams so that a search reads one kilobyte.
  std::array<uint32_t, kMaxSsrcs> ssrcs_{};
  std::array<uint64_t, kMaxSsrcs> last_heard_{};
  std::vector<Stream> streams_;
  size_t stream_count_ = 0;
  size_t last_stream_ = 0;
  uint64_t packets_ = 0;

  internal::OneWayDelay abs_send_time_delay_;
  bool has_abs_send_time_ = false;
  int64_t last_abs_send_time_us_ = 0;
  bool has_arrival_ = false;
  int64_t last_arrival_us_ = 0;
  TimeDelta queueing_delay_ = TimeDelta::Zero();
  TimeDelta delay_change_ = TimeDelta::Zero();
  ArrivalCounters counters_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_STATISTICS_H_
