// RTP streams of a sender: received sequence numbers, and the assignment of streams to a table of fixed size.
#ifndef WEIR_ARRIVAL_RTP_STREAMS_H_
#define WEIR_ARRIVAL_RTP_STREAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "weir/units.h"

namespace weir {

// Unwraps the sequence numbers of one stream, detects duplicates, and counts gaps until late packets fill them. After
// RFC 3550 appendix A.1, with a window of 2048 numbers in which late packets are distinguished from duplicates.
//
// Numbers are untrusted. Invariant: a few packets with wrong numbers neither count as more loss than their stream could
// have had, nor make later packets duplicates for long.
//
// 1. A gap of more than 150 numbers plus 16 for each millisecond since the previous packet is a leap rather than loss,
//    and so is a gap of 3000. A pause of 200 ms counts for 2 s, since packets that waited in an outage arrive after it.
// 2. Ten duplicates without a new packet between them, each with a higher number than the one before and sent after all
//    packets before it, are a restart. A copy of a packet was sent when the packet was.
class SequenceNumbers {
 public:
  enum class Verdict {
    kNew,        // higher than all before it
    kLate,       // lower than the highest, not seen before
    kDuplicate,  // seen before
    kLeap,       // too far for loss or reordering: a stray packet, unless its successor follows
    kRestart,    // the successor of a leap, or of many duplicates: the sender has restarted
  };
  struct Result {
    // The other fields are valid unless it is kDuplicate or kLeap.
    Verdict verdict;
    // Unwrapped; below zero for packets sent before the first packet seen.
    int64_t sequence_number;
    // See Arrival::lost_change.
    int32_t lost_change;
  };

  // The first packet of a stream.
  void Start(uint16_t sequence_number, Timestamp arrival_time);
  // `sent_later()` returns whether the packet was sent after all new ones before it, as far as its send time shows.
  template <class SentLater>
  Result Add(uint16_t sequence_number, Timestamp arrival_time, SentLater sent_later) {
    previous_ = std::exchange(latest_, arrival_time);
    if (latest_ - previous_ >= kPause) pause_ = {previous_, latest_};
    if (StepTo(sequence_number) != 1) return AddOther(sequence_number, sent_later());
    restart_candidate_ = kNoCandidate;
    Mark(++highest_);
    return {Verdict::kNew, highest_, 0};
  }

 private:
  static constexpr int64_t kMaxDropout = 3000;
  static constexpr int64_t kMaxBurst = 150;
  // 150 Mbps in full packets.
  static constexpr int64_t kMaxPerMillisecond = 16;
  static constexpr TimeDelta kPause = TimeDelta::Millis(200);
  static constexpr TimeDelta kPauseMemory = TimeDelta::Seconds(2);
  static constexpr int kDuplicatesToRestart = 10;
  static constexpr int64_t kWindow = 2048;
  // More than 16 bits: no leap waits for its successor.
  static constexpr uint32_t kNoCandidate = 0x10000;

  // Signed distance from the highest number, modulo 2^16.
  int64_t StepTo(uint16_t sequence_number) const {
    return static_cast<int16_t>(static_cast<uint16_t>(sequence_number - static_cast<uint16_t>(highest_)));
  }
  bool Received(int64_t number) const { return (received_[Word(number)] & Bit(number)) != 0; }
  void Mark(int64_t number) { received_[Word(number)] |= Bit(number); }
  void Unmark(int64_t number) { received_[Word(number)] &= ~Bit(number); }
  static size_t Word(int64_t number) { return static_cast<size_t>((number & (kWindow - 1)) >> 6); }
  static uint64_t Bit(int64_t number) { return uint64_t{1} << (number & 63); }
  // Any number but the successor of the highest.
  Result AddOther(uint16_t sequence_number, bool sent_later);
  bool IsPlausibleGap(int64_t step) const;
  // True if it is a restart.
  bool OnDuplicate(int64_t number);
  void Advance(int64_t number);

  int64_t first_ = 0;
  int64_t highest_ = 0;
  uint32_t restart_candidate_ = kNoCandidate;
  // Arrival times of the latest packet and the one before, and both ends of the latest pause.
  Timestamp latest_ = Timestamp::MinusInfinity();
  Timestamp previous_ = Timestamp::MinusInfinity();
  std::pair<Timestamp, Timestamp> pause_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  // The highest number during the present series of ascending duplicates, the latest of them, and how many there are.
  int64_t highest_at_duplicates_ = 0;
  int64_t latest_duplicate_ = 0;
  int duplicates_ = 0;
  std::array<uint64_t, kWindow / 64> received_{};
};

// Assigns each SSRC a slot. A new stream takes the slot of the one with the oldest packet.
class SsrcTable {
 public:
  static constexpr size_t kSlots = 256;

  struct Slot {
    // Below kSlots.
    size_t index;
    // True if the slot was just assigned to this SSRC. Its contents are unused, or those of an evicted stream.
    bool is_new;
    // True if another stream was evicted for it.
    bool evicted;
  };

  // The slot of a stream, which counts as heard.
  Slot Find(uint32_t ssrc) {
    if (count_ == 0 || ssrcs_[last_] != ssrc) return FindOther(ssrc);
    last_heard_[last_] = ++heard_;
    return {last_, false, false};
  }
  // The slot of a known stream, without counting it as heard.
  std::optional<size_t> Known(uint32_t ssrc) const;

  // Writes the slots in use, the most recently heard first, and returns their number.
  size_t Recent(std::array<uint16_t, kSlots>& slots) const;
  // `slot` must be in use.
  uint32_t ssrc(size_t slot) const { return ssrcs_[slot]; }

 private:
  Slot FindOther(uint32_t ssrc);
  // Returns `count_` if there is none.
  size_t Search(uint32_t ssrc) const;

  // Separate from the contents of the slots, so that a search reads only one kilobyte.
  std::array<uint32_t, kSlots> ssrcs_{};
  std::array<uint64_t, kSlots> last_heard_{};
  size_t count_ = 0;
  size_t last_ = 0;
  uint64_t heard_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_RTP_STREAMS_H_
