// The received sequence numbers of one RTP stream: unwrapped, duplicates told, gaps counted and taken back.
#ifndef WEIR_ARRIVAL_SEQUENCE_NUMBERS_H_
#define WEIR_ARRIVAL_SEQUENCE_NUMBERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir {

// After RFC 3550 appendix A.1, with a window of 2048 numbers in which a late packet is told from a duplicate.
class SequenceNumbers {
 public:
  enum class Verdict {
    kNew,        // above all before it
    kLate,       // below the highest, not seen before
    kDuplicate,  // seen before
    kLeap,       // too far to be loss or reordering: a stray packet, unless its successor follows
    kRestart,    // the successor of a leap: the sender began anew, and so has this
  };
  struct Result {
    // The other two count unless it is kDuplicate or kLeap.
    Verdict verdict;
    // Unwrapped; goes below zero for what was sent before the first packet seen.
    int64_t sequence_number;
    // By how much the number of packets believed lost changes: see Arrival::lost_change.
    int32_t lost_change;
  };

  // The first packet of a stream.
  void Start(uint16_t sequence_number);
  Result Add(uint16_t sequence_number);
  struct Unknown {
    // False: the number is beyond the window, or its fate is known.
    bool taken;
    // As in Result.
    int32_t lost_change;
  };
  // A packet that was sent and of which nobody knows whether it arrived: not lost. What is told of it later counts as a
  // duplicate.
  Unknown AddUnknown(uint16_t sequence_number);

 private:
  static constexpr int64_t kMaxDropout = 3000;
  static constexpr int64_t kWindow = 2048;
  // Beyond 16 bits: no leap waits for its successor.
  static constexpr uint32_t kNoCandidate = 0x10000;

  // From the highest, the shorter way around.
  int64_t StepTo(uint16_t sequence_number) const;
  // Or of unknown fate.
  bool Received(int64_t number) const { return (received_[Word(number)] & Bit(number)) != 0; }
  void Mark(int64_t number) { received_[Word(number)] |= Bit(number); }
  void Unmark(int64_t number) { received_[Word(number)] &= ~Bit(number); }
  static size_t Word(int64_t number) { return static_cast<size_t>((number & (kWindow - 1)) >> 6); }
  static uint64_t Bit(int64_t number) { return uint64_t{1} << (number & 63); }
  void Advance(int64_t number);

  int64_t first_ = 0;
  int64_t highest_ = 0;
  uint32_t restart_candidate_ = kNoCandidate;
  std::array<uint64_t, kWindow / 64> received_{};
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SEQUENCE_NUMBERS_H_
