// Arithmetic on eight float32 at a time, and the functions that networks need of it.
//
// Written with the compiler's vectors instead of loops over arrays, so that it is vectorised by construction; a target
// without vectors of this size gets it in pieces. The functions take every float: outside their domain and for what is
// not finite they answer as the C library does. Without fused multiply-add (see CMakeLists.txt) the
// same bits come out on every processor.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_VECTOR_MATH_H_
#define WEIR_ESTIMATOR_SRC_ONNX_VECTOR_MATH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace weir::internal {

constexpr size_t kLanes = 8;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
// For processors that have vectors of twice the size.
using WideLanes = float __attribute__((vector_size(2 * kLanes * sizeof(float))));
using LaneBits = int32_t __attribute__((vector_size(kLanes * sizeof(float))));
// For what may leave the range of the above where the result is not used.
using LaneWords = uint32_t __attribute__((vector_size(kLanes * sizeof(float))));

// Always inlined: whoever calls them decides for which processor they are compiled, and vectors are in no interface.
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

// ln 2 in two parts, the first so short that its products with exponents are exact.
constexpr float kLn2High = 0x1.62e4p-1f;
constexpr float kLn2Low = 0x1.7f7d1cp-20f;
constexpr float kOneOverLn2 = 0x1.715476p+0f;
// Adding it rounds to a whole number, which then stands in the lowest bits.
constexpr float kRounder = 0x1.8p23f;

// x = n ln 2 + rest, |rest| <= ln 2 / 2; `n` as an integer. |x| is at most 200, or x is NaN, which `rest` then is.
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

// exp(x) - 1 for |x| <= ln 2 / 2: its series, whose remainder is below a tenth of a rounding.
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

// NaN when one is NaN.
WEIR_INLINE Lanes Larger(const Lanes& a, const Lanes& b) { return ((a > b) | (a != a)) ? a : b; }
WEIR_INLINE Lanes Smaller(const Lanes& a, const Lanes& b) { return ((a < b) | (a != a)) ? a : b; }

WEIR_INLINE Lanes Exp(const Lanes& x) {
  // Beyond these it is infinite or 0.
  const auto [n, rest] = vector_math::Reduce(Smaller(Larger(x, AllLanes(-120)), AllLanes(120)));
  // In two steps, since 2^n need not be a float where the result is one.
  const LaneBits half = n >> 1;
  return (vector_math::SmallExpm1(rest) + 1.0f) * vector_math::PowerOfTwo(half) * vector_math::PowerOfTwo(n - half);
}

// With t = exp(2 x) - 1 it is t / (t + 2), which keeps its digits near 0.
WEIR_INLINE Lanes Tanh(const Lanes& x) {
  // Beyond these it is 1 to the last bit.
  const Lanes bounded = Smaller(Larger(x, AllLanes(-10)), AllLanes(10));
  const auto [n, rest] = vector_math::Reduce(bounded + bounded);
  const Lanes scale = vector_math::PowerOfTwo(n);
  const Lanes t = scale * vector_math::SmallExpm1(rest) + (scale - 1.0f);
  return t / (t + 2.0f);
}

WEIR_INLINE Lanes Sigmoid(const Lanes& x) { return 1.0f / (1.0f + Exp(-x)); }

// x = 2^n m with m around 1; with s = (m - 1) / (m + 1), ln m = 2 artanh(s), a short series.
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
