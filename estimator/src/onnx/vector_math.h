// Vector arithmetic on eight float32 values, and the elementary functions that networks need.
//
// Uses the compiler's vector types instead of loops over arrays, so that it is vectorized by construction. The compiler
// splits the vectors on targets with smaller ones. The functions accept every float: outside their domain and for
// non-finite values they return what the C library returns. Without fused multiply-add (see CMakeLists.txt) the results
// are bit-identical on every processor.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_VECTOR_MATH_H_
#define WEIR_ESTIMATOR_SRC_ONNX_VECTOR_MATH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace weir::internal {

constexpr size_t kLanes = 8;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
// For processors with vectors of twice the size.
using WideLanes = float __attribute__((vector_size(2 * kLanes * sizeof(float))));
using LaneBits = int32_t __attribute__((vector_size(kLanes * sizeof(float))));
// Unsigned, for arithmetic that may overflow where its result is not used.
using LaneWords = uint32_t __attribute__((vector_size(kLanes * sizeof(float))));

// Always inlined, so that the caller determines the target processor, and vectors never cross a function call.
#define WEIR_INLINE [[gnu::always_inline]] inline
#define WEIR_INLINE_LAMBDA __attribute__((always_inline))

template <class Vector = Lanes>
WEIR_INLINE Vector Load(const float* from) {
  Vector x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}
template <class Vector>
WEIR_INLINE void Store(const Vector& x, float* to) {
  std::memcpy(to, &x, sizeof(x));
}
WEIR_INLINE Lanes AllLanes(float x) { return Lanes{} + x; }

namespace vector_math {

// ln 2 in two parts. The first is short enough that its products with exponents are exact.
constexpr float kLn2High = 0x1.62e4p-1f;
constexpr float kLn2Low = 0x1.7f7d1cp-20f;
constexpr float kOneOverLn2 = 0x1.715476p+0f;
// Adding it rounds to an integer, which is then in the lowest bits.
constexpr float kRounder = 0x1.8p23f;

// x = n ln 2 + rest with |rest| <= ln 2 / 2. |x| must be at most 200, or x is NaN and so is `rest`.
struct Reduced {
  LaneBits n;
  Lanes rest;
};
WEIR_INLINE Reduced Reduce(const Lanes& x) {
  const Lanes rounded = x * kOneOverLn2 + kRounder;
  const Lanes n = rounded - kRounder;
  return {reinterpret_cast<LaneBits>(reinterpret_cast<LaneWords>(rounded) -
                                     reinterpret_cast<LaneWords>(AllLanes(kRounder))),
          x - n * kLn2High - n * kLn2Low};
}

// exp(x) - 1 for |x| <= ln 2 / 2, from its series, whose remainder is below a tenth of a rounding error.
WEIR_INLINE Lanes SmallExpm1(const Lanes& x) {
  Lanes series = x * (1.0f / 5040) + 1.0f / 720;
  series = series * x + 1.0f / 120;
  series = series * x + 1.0f / 24;
  series = series * x + 1.0f / 6;
  series = series * x + 1.0f / 2;
  return series * (x * x) + x;
}

// 2^n for n from -126 to 127.
WEIR_INLINE Lanes PowerOfTwo(const LaneBits& n) {
  return reinterpret_cast<Lanes>((reinterpret_cast<LaneWords>(n) + 127) << 23);
}

}  // namespace vector_math

// NaN if either is NaN.
WEIR_INLINE Lanes Larger(const Lanes& a, const Lanes& b) { return ((a > b) | (a != a)) ? a : b; }
WEIR_INLINE Lanes Smaller(const Lanes& a, const Lanes& b) { return ((a < b) | (a != a)) ? a : b; }

WEIR_INLINE Lanes Exp(const Lanes& x) {
  // The result is infinite or 0 outside this range.
  const auto [n, rest] = vector_math::Reduce(Smaller(Larger(x, AllLanes(-120)), AllLanes(120)));
  // In two steps, since 2^n may not be representable where the result is.
  const LaneBits half = n >> 1;
  return (vector_math::SmallExpm1(rest) + 1.0f) * vector_math::PowerOfTwo(half) * vector_math::PowerOfTwo(n - half);
}

// t / (t + 2) with t = exp(2 x) - 1, which is accurate near 0.
WEIR_INLINE Lanes Tanh(const Lanes& x) {
  // The magnitude of the result is 1 to the last bit outside this range.
  const Lanes bounded = Smaller(Larger(x, AllLanes(-10)), AllLanes(10));
  const auto [n, rest] = vector_math::Reduce(bounded + bounded);
  const Lanes scale = vector_math::PowerOfTwo(n);
  const Lanes t = scale * vector_math::SmallExpm1(rest) + (scale - 1.0f);
  return t / (t + 2.0f);
}

// x = 2^n m with m near 1. With s = (m - 1) / (m + 1), ln m = 2 artanh(s), which is a short series.
WEIR_INLINE Lanes Log(const Lanes& x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr uint32_t kRootOfHalf = 0x3f3504f3;
  const LaneBits subnormal = x < std::numeric_limits<float>::min();
  const Lanes normal = subnormal ? x * 0x1p23f : x;
  const auto words = reinterpret_cast<LaneWords>(normal);
  const LaneBits n = reinterpret_cast<LaneBits>(words - kRootOfHalf) >> 23;
  const Lanes f = reinterpret_cast<Lanes>(words - (reinterpret_cast<LaneWords>(n) << 23)) - 1.0f;
  const Lanes s = f / (f + 2.0f);
  const Lanes z = s * s;
  Lanes series = z * (2.0f / 9) + 2.0f / 7;
  series = series * z + 2.0f / 5;
  series = series * z + 2.0f / 3;
  const Lanes exponent = __builtin_convertvector(n - (subnormal & 23), Lanes);
  const Lanes logarithm =
      exponent * vector_math::kLn2High + ((f - s * (f - z * series)) + exponent * vector_math::kLn2Low);
  const Lanes at_most_zero = x == 0.0f ? AllLanes(-kInfinity) : AllLanes(std::numeric_limits<float>::quiet_NaN());
  const Lanes of_positive = x < kInfinity ? logarithm : x;
  return x > 0.0f ? of_positive : at_most_zero;
}

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_VECTOR_MATH_H_
