// Unwraps transport-wide sequence numbers, for hosts whose packets and feedback have 16 bits of them.
#ifndef WEIR_SEQUENCE_NUMBER_UNWRAPPER_H_
#define WEIR_SEQUENCE_NUMBER_UNWRAPPER_H_

#include <cstdint>

namespace weir {

// Converts the 16-bit numbers of transport-wide feedback
// (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2) to the 64-bit ones of SendSideEstimator. One object
// for each estimator; calls must not be concurrent. Allocates nothing.
class SequenceNumberUnwrapper {
 public:
  // Number of consecutive packets out of order that begin a new sequence. Fewer may be late packets.
  static constexpr int kOutOfOrderToRestart = 50;

  // Called for each packet, in the order of departures, with its number. Returns PacketDeparture::sequence_number.
  //
  // 1. The first packet keeps its number.
  // 2. A number that follows the latest one by less than 2^15, modulo 2^16, is after it.
  // 3. Any other number is out of order: the result is at most the latest number, so that the estimator ignores the
  //    packet. If kOutOfOrderToRestart of them in a row are consecutive, the host has started again, or gave a wrong
  //    number before: the last of them, and the packets that follow, are after the latest number.
  int64_t OnSentPacket(uint16_t sequence_number) {
    const int64_t step = StepTo(sequence_number);
    if (latest_ < 0) return latest_ = sequence_number;
    if (!IsNext(step, sequence_number)) return latest_ + step - (step > 0 ? kNumbers : 0);
    out_of_order_ = 0;
    return latest_ += step;
  }

  // Called for each entry of feedback. Returns PacketFeedback::sequence_number: that of the latest packet with this
  // number, which is negative if none was sent.
  int64_t OnReport(uint16_t sequence_number) const {
    return latest_ < 0 ? -1 : latest_ - static_cast<uint16_t>(static_cast<uint16_t>(latest_) - sequence_number);
  }

 private:
  static constexpr int64_t kNumbers = 0x10000;

  // Distance from the latest number, modulo 2^16.
  int64_t StepTo(uint16_t sequence_number) const {
    return static_cast<uint16_t>(sequence_number - static_cast<uint16_t>(latest_));
  }

  // True if the packet is after the latest one. Counts those that are not.
  bool IsNext(int64_t step, uint16_t sequence_number) {
    if (step > 0 && step < kNumbers / 2) return true;
    const bool is_consecutive = out_of_order_ > 0 && sequence_number == static_cast<uint16_t>(last_out_of_order_ + 1);
    out_of_order_ = is_consecutive ? out_of_order_ + 1 : 1;
    last_out_of_order_ = sequence_number;
    return out_of_order_ >= kOutOfOrderToRestart;
  }

  // Unwrapped number of the latest packet; negative before the first.
  int64_t latest_ = -1;
  // Number of consecutive packets out of order, and the sequence number of the latest of them.
  int out_of_order_ = 0;
  uint16_t last_out_of_order_ = 0;
};

}  // namespace weir

#endif  // WEIR_SEQUENCE_NUMBER_UNWRAPPER_H_
