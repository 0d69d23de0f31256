// Turns a fuzzer's bytes into numbers and choices; zeros when they run out.
#ifndef WEIR_TESTS_FUZZ_FUZZ_INPUT_H_
#define WEIR_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace weir::fuzz

#endif  // WEIR_TESTS_FUZZ_FUZZ_INPUT_H_
