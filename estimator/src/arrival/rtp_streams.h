// RTP streams of a sender: the sequence numbers received of each, and a slot for each in a table of fixed size.
#ifndef WEIR_ARRIVAL_RTP_STREAMS_H_
#define WEIR_ARRIVAL_RTP_STREAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "weir/units.h"

namespace weir {

// Unwraps the sequence numbers of one stream, detects duplicates, counts gaps and takes them back. After RFC 3550
// appendix A.1, with a window of 2048 numbers in which a late packet is distinguished from a duplicate.
//
// Numbers are untrusted. Invariant: a few packets with wrong numbers neither count as more loss than their stream could
// have had, nor make later packets duplicates for long.
//
// 1. A gap of more than 150 numbers, and 16 for each millisecond since the previous packet, is no loss but a leap, and
//    so is one of 3000. A pause of 200 ms counts for 2 s, since packets that waited in an outage arrive after it.
// 2. Ten duplicates, each above the one before and sent after all before it, without a new packet between are a
//    restart. A copy was sent when its original was.
class SequenceNumbers {
 public:
  enum class Verdict {
    kNew,        // above all before it
    kLate,       // below the highest, not seen before
    kDuplicate,  // seen before
    kLeap,       // too far for loss or reordering: a stray packet, unless its successor follows
    kRestart,    // the successor of a leap, or of many duplicates: the sender and this have restarted
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
  // `sent_later()`: the packet was sent after all new ones before it, as far as its send time shows.
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
  // Beyond 16 bits: no leap waits for its successor.
  static constexpr uint32_t kNoCandidate = 0x10000;

  // Distance from the highest number, the shorter way around.
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
  // True when it is a restart.
  bool OnDuplicate(int64_t number);
  void Advance(int64_t number);

  int64_t first_ = 0;
  int64_t highest_ = 0;
  uint32_t restart_candidate_ = kNoCandidate;
  // Arrivals of the latest packet and the one before, and the ends of the latest pause.
  Timestamp latest_ = Timestamp::MinusInfinity();
  Timestamp previous_ = Timestamp::MinusInfinity();
  std::pair<Timestamp, Timestamp> pause_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  // Duplicates in ascending order while this was the highest number, and the latest of them.
  int64_t highest_at_duplicates_ = 0;
  int64_t latest_duplicate_ = 0;
  int duplicates_ = 0;
  std::array<uint64_t, kWindow / 64> received_{};
};

// Assigns each SSRC a slot; the stream heard least recently gives way to a new one.
class SsrcTable {
 public:
  static constexpr size_t kSlots = 256;

  struct Slot {
    // Below kSlots.
    size_t index;
    // The slot was just assigned to this SSRC; its contents are unused or those of an evicted stream.
    bool is_new;
    // Another stream was evicted for it.
    bool evicted;
  };

  // The slot of a stream that was just heard.
  Slot Find(uint32_t ssrc) {
    if (count_ == 0 || ssrcs_[last_] != ssrc) return FindOther(ssrc);
    last_heard_[last_] = ++heard_;
    return {last_, false, false};
  }
  // The slot of a known stream, without counting it as heard.
  std::optional<size_t> Known(uint32_t ssrc) const;

  // Writes the slots in use, the most recently heard first; returns their number.
  size_t Recent(std::array<uint16_t, kSlots>& slots) const;
  // `slot` must be in use.
  uint32_t ssrc(size_t slot) const { return ssrcs_[slot]; }

 private:
  Slot FindOther(uint32_t ssrc);
  // `count_` when there is none.
  size_t Search(uint32_t ssrc) const;

  // Separate from the contents of the slots, so that a search reads one kilobyte.
  std::array<uint32_t, kSlots> ssrcs_{};
  std::array<uint64_t, kSlots> last_heard_{};
  size_t count_ = 0;
  size_t last_ = 0;
  uint64_t heard_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_RTP_STREAMS_H_
