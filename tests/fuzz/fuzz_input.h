// Turns a fuzzer's bytes into numbers, choices and RTP packets. Reads zeros when the bytes run out.
#ifndef WEIR_TESTS_FUZZ_FUZZ_INPUT_H_
#define WEIR_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "test_stream.h"
#include "weir/arrival.h"

namespace weir::fuzz {

class FuzzInput {
 public:
  explicit FuzzInput(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::span<const uint8_t> rest() const { return rest_; }

  // Any value that the bits can mean, NaN and infinities included.
  template <class Number>
  Number Take() {
    Number number{};
    const size_t size = rest_.size() < sizeof(number) ? rest_.size() : sizeof(number);
    if (size > 0) std::memcpy(&number, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return number;
  }
  // Within [0, choices).
  uint32_t Choose(uint32_t choices) { return Take<uint8_t>() % choices; }
  // Small and large, positive and negative: a random number of significant bits.
  int64_t TakeScaled() {
    const uint32_t shift = Choose(64);
    return Take<int64_t>() >> shift;
  }
  // An edge of the integer types or of the allowed times, or a value up to some seconds, in microseconds, from it.
  int64_t TakeEdge() {
    constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX, kTime = int64_t{1} << 61;
    constexpr int64_t kEdges[] = {kMin, kMax, -kTime, kTime, 0, int64_t{1} << 31, int64_t{1} << 32, kMax / 1'000'000};
    const int64_t edge = kEdges[Choose(8)];
    const int64_t far = int64_t{1} << Choose(24);
    const uint32_t side = Choose(3);
    if (side == 1) return edge < kMin + far ? kMin : edge - far;
    return side == 2 ? (edge > kMax - far ? kMax : edge + far) : edge;
  }

 private:
  std::span<const uint8_t> rest_;
};

// Mostly the next packet of a call, around now; sometimes any packet.
inline PacketArrival TakePacket(FuzzInput& input, Timestamp now, uint16_t& sequence_number) {
  PacketArrival packet;
  packet.arrival_time =
      input.Choose(64) == 0 ? Timestamp::Micros(input.Take<int64_t>()) : now + TimeDelta::Micros(input.Take<int16_t>());
  packet.ssrc = input.Choose(32) == 0 ? input.Take<uint32_t>() : input.Choose(4);
  const uint32_t step = input.Choose(32);
  sequence_number = static_cast<uint16_t>(
      step == 0 ? input.Take<uint16_t>() : sequence_number + (step < 4 ? static_cast<int>(input.Choose(8)) - 3 : 1));
  packet.sequence_number = sequence_number;
  packet.payload_type = input.Take<uint8_t>();
  packet.kind = static_cast<PacketKind>(input.Choose(4));
  packet.has_abs_send_time = input.Choose(4) != 0;
  packet.abs_send_time =
      input.Choose(32) == 0 ? input.Take<uint32_t>() : AbsSendTime(now - TimeDelta::Micros(input.Take<uint16_t>() * 4));
  packet.rtp_timestamp = input.Take<uint32_t>();
  packet.rtp_clock_rate = input.Choose(2) == 0 ? 90'000 : input.Take<uint32_t>();
  packet.header_size = 12;
  packet.payload_size = input.Choose(16) == 0 ? input.Take<uint32_t>() : input.Take<uint16_t>();
  packet.padding_size = input.Choose(16) == 0 ? input.Take<uint32_t>() : 0;
  return packet;
}

}  // namespace weir::fuzz

#endif  // WEIR_TESTS_FUZZ_FUZZ_INPUT_H_
