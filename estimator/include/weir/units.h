// Strong types for time, rate and size, modeled on libwebrtc's api/units.
//
// Every quantity is one signed 64-bit integer in a fixed unit (microseconds, bits per second, bytes; in the simulator
// nanoseconds). Arithmetic saturates at PlusInfinity() and MinusInfinity() instead of overflowing, since values come
// from the network and from users. Infinity plus or minus a finite value is the same infinity.
#ifndef WEIR_UNITS_H_
#define WEIR_UNITS_H_

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

namespace weir {
namespace internal {

inline constexpr int64_t kPlusInfinity = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();

constexpr bool IsInfinite(int64_t value) { return value == kPlusInfinity || value == kMinusInfinity; }

// True for values of magnitude below 2^62, which add and subtract without overflow. One comparison, for speed.
constexpr bool AreSmall(int64_t a, int64_t b) {
  constexpr uint64_t kOffset = uint64_t{1} << 62;
  return ((static_cast<uint64_t>(a) + kOffset) | (static_cast<uint64_t>(b) + kOffset)) >> 63 == 0;
}

constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  if (AreSmall(a, b)) [[likely]]
    return a + b;
  if (IsInfinite(a)) return a;
  if (IsInfinite(b)) return b;
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kPlusInfinity : kMinusInfinity;
  return sum;
}

constexpr int64_t SaturatingNegate(int64_t a) {
  if (a == kMinusInfinity) return kPlusInfinity;
  if (a == kPlusInfinity) return kMinusInfinity;
  return -a;
}

// a + (-b), in one step.
constexpr int64_t SaturatingSubtract(int64_t a, int64_t b) {
  if (AreSmall(a, b)) [[likely]]
    return a - b;
  if (IsInfinite(a)) return a;
  if (IsInfinite(b)) return SaturatingNegate(b);
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return a > 0 ? kPlusInfinity : kMinusInfinity;
  return difference;
}

// Truncates toward zero. NaN becomes 0.
constexpr int64_t SaturatingFromDouble(double value) {
  if (value != value) return 0;
  if (value >= 9.2233720368547748e18) return kPlusInfinity;
  if (value <= -9.2233720368547748e18) return kMinusInfinity;
  return static_cast<int64_t>(value);
}

// a * b / c without intermediate overflow; c must be positive.
constexpr int64_t SaturatingMulDiv(int64_t a, int64_t b, int64_t c) {
  if (IsInfinite(a)) return a;
  const __int128 value = static_cast<__int128>(a) * b / c;
  if (value >= kPlusInfinity) return kPlusInfinity;
  if (value <= kMinusInfinity) return kMinusInfinity;
  return static_cast<int64_t>(value);
}

// The part common to all quantities: comparison, infinities, and the sum of two of the same type.
template <class Unit>
class Quantity {
 public:
  Quantity() = delete;

  static constexpr Unit PlusInfinity() { return Unit(kPlusInfinity); }
  static constexpr Unit MinusInfinity() { return Unit(kMinusInfinity); }

  constexpr bool IsFinite() const { return !IsInfinite(value_); }
  constexpr bool IsPlusInfinity() const { return value_ == kPlusInfinity; }
  constexpr bool IsMinusInfinity() const { return value_ == kMinusInfinity; }

  friend constexpr auto operator<=>(const Quantity& a, const Quantity& b) = default;

 protected:
  explicit constexpr Quantity(int64_t value) : value_(value) {}
  int64_t value_;
};

// A quantity that can be added, scaled and divided; a point in time cannot.
template <class Unit>
class RelativeQuantity : public Quantity<Unit> {
 public:
  static constexpr Unit Zero() { return Make(0); }
  constexpr bool IsZero() const { return this->value_ == 0; }

  friend constexpr Unit operator+(Unit a, Unit b) { return Make(SaturatingAdd(a.value_, b.value_)); }
  friend constexpr Unit operator-(Unit a, Unit b) { return Make(SaturatingSubtract(a.value_, b.value_)); }
  friend constexpr Unit operator*(Unit a, double factor) {
    return Make(a.IsFinite() ? SaturatingFromDouble(static_cast<double>(a.value_) * factor) : a.value_);
  }
  friend constexpr Unit operator*(double factor, Unit a) { return a * factor; }
  // The ratio of two finite quantities. The divisor must not be zero.
  friend constexpr double operator/(Unit a, Unit b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  constexpr Unit& operator+=(Unit other) { return Assign(SaturatingAdd(this->value_, other.value_)); }
  constexpr Unit& operator-=(Unit other) { return Assign(SaturatingSubtract(this->value_, other.value_)); }

 protected:
  using Quantity<Unit>::Quantity;

 private:
  static constexpr Unit Make(int64_t value) { return Unit(value); }
  constexpr Unit& Assign(int64_t value) {
    this->value_ = value;
    return static_cast<Unit&>(*this);
  }
};

}  // namespace internal

// A span of time, in units of 1 / kPerSecond s: a microsecond or a nanosecond.
template <int64_t kPerSecond>
class BasicTimeDelta final : public internal::RelativeQuantity<BasicTimeDelta<kPerSecond>> {
 public:
  static constexpr BasicTimeDelta Nanos(int64_t ns)
    requires(kPerSecond == 1'000'000'000)
  {
    return BasicTimeDelta(ns);
  }
  static constexpr BasicTimeDelta Micros(int64_t us) { return Scaled(us, kPerSecond / 1'000'000); }
  static constexpr BasicTimeDelta Millis(int64_t ms) { return Scaled(ms, kPerSecond / 1000); }
  static constexpr BasicTimeDelta Seconds(int64_t s) { return Scaled(s, kPerSecond); }
  static constexpr BasicTimeDelta SecondsF(double s) {
    return BasicTimeDelta(internal::SaturatingFromDouble(s * static_cast<double>(kPerSecond)));
  }

  constexpr int64_t ns() const
    requires(kPerSecond == 1'000'000'000)
  {
    return this->value_;
  }
  // Rounded toward zero, as ms().
  constexpr int64_t us() const { return this->value_ / (kPerSecond / 1'000'000); }
  constexpr int64_t ms() const { return this->value_ / (kPerSecond / 1000); }
  constexpr double seconds() const { return static_cast<double>(this->value_) * (1.0 / kPerSecond); }
  constexpr BasicTimeDelta Abs() const {
    return this->value_ < 0 ? BasicTimeDelta(internal::SaturatingNegate(this->value_)) : *this;
  }

  // Exact, unlike the product with a double.
  template <std::integral Integer>
  friend constexpr BasicTimeDelta operator*(BasicTimeDelta delta, Integer factor) {
    return Scaled(delta.value_, static_cast<int64_t>(factor));
  }
  template <std::integral Integer>
  friend constexpr BasicTimeDelta operator*(Integer factor, BasicTimeDelta delta) {
    return delta * factor;
  }

 private:
  friend class internal::Quantity<BasicTimeDelta>;
  friend class internal::RelativeQuantity<BasicTimeDelta>;
  template <int64_t>
  friend class BasicTimestamp;
  explicit constexpr BasicTimeDelta(int64_t value) : internal::RelativeQuantity<BasicTimeDelta>(value) {}
  static constexpr BasicTimeDelta Scaled(int64_t value, int64_t factor) {
    return BasicTimeDelta(internal::SaturatingMulDiv(value, factor, 1));
  }
};

// A point in time on a monotonic clock of any origin, in units of 1 / kPerSecond s.
template <int64_t kPerSecond>
class BasicTimestamp final : public internal::Quantity<BasicTimestamp<kPerSecond>> {
 public:
  using Delta = BasicTimeDelta<kPerSecond>;

  static constexpr BasicTimestamp Nanos(int64_t ns)
    requires(kPerSecond == 1'000'000'000)
  {
    return BasicTimestamp(ns);
  }
  static constexpr BasicTimestamp Micros(int64_t us) { return BasicTimestamp(Delta::Micros(us).value_); }
  static constexpr BasicTimestamp Millis(int64_t ms) { return BasicTimestamp(Delta::Millis(ms).value_); }
  static constexpr BasicTimestamp Seconds(int64_t s) { return BasicTimestamp(Delta::Seconds(s).value_); }

  constexpr int64_t ns() const
    requires(kPerSecond == 1'000'000'000)
  {
    return this->value_;
  }
  // Rounded toward zero.
  constexpr int64_t us() const { return Delta(this->value_).us(); }
  constexpr double seconds() const { return Delta(this->value_).seconds(); }

  friend constexpr BasicTimestamp operator+(BasicTimestamp t, Delta d) { return t.Plus(d); }
  friend constexpr BasicTimestamp operator-(BasicTimestamp t, Delta d) { return t.Minus(d); }
  friend constexpr Delta operator-(BasicTimestamp a, BasicTimestamp b) { return a.Since(b); }
  constexpr BasicTimestamp& operator+=(Delta d) { return *this = Plus(d); }

 private:
  friend class internal::Quantity<BasicTimestamp>;
  explicit constexpr BasicTimestamp(int64_t value) : internal::Quantity<BasicTimestamp>(value) {}
  constexpr BasicTimestamp Plus(Delta d) const {
    return BasicTimestamp(internal::SaturatingAdd(this->value_, d.value_));
  }
  constexpr BasicTimestamp Minus(Delta d) const {
    return BasicTimestamp(internal::SaturatingSubtract(this->value_, d.value_));
  }
  constexpr Delta Since(BasicTimestamp other) const {
    return Delta(internal::SaturatingSubtract(this->value_, other.value_));
  }
};

using TimeDelta = BasicTimeDelta<1'000'000>;
using Timestamp = BasicTimestamp<1'000'000>;

// Bounds of the times that hosts and packets may give: 73,000 years around 0, so that sums of times do not saturate.
// Other times are refused or ignored.
inline constexpr Timestamp kMaxTime = Timestamp::Micros(int64_t{1} << 61);
inline constexpr Timestamp kMinTime = Timestamp::Micros(-(int64_t{1} << 61));
constexpr bool IsTime(Timestamp time) { return time >= kMinTime && time <= kMaxTime; }

// An amount of data, in bytes.
class DataSize final : public internal::RelativeQuantity<DataSize> {
 public:
  static constexpr DataSize Bytes(int64_t bytes) { return DataSize(bytes); }
  constexpr int64_t bytes() const { return value_; }

 private:
  friend class internal::Quantity<DataSize>;
  friend class internal::RelativeQuantity<DataSize>;
  explicit constexpr DataSize(int64_t bytes) : RelativeQuantity(bytes) {}
};

// A rate of data, in bits per second.
class DataRate final : public internal::RelativeQuantity<DataRate> {
 public:
  static constexpr DataRate BitsPerSecond(int64_t bps) { return DataRate(bps); }
  static constexpr DataRate BitsPerSecondF(double bps) { return DataRate(internal::SaturatingFromDouble(bps)); }
  static constexpr DataRate KilobitsPerSecond(int64_t k) { return DataRate(internal::SaturatingMulDiv(k, 1000, 1)); }
  constexpr int64_t bps() const { return value_; }

 private:
  friend class internal::Quantity<DataRate>;
  friend class internal::RelativeQuantity<DataRate>;
  explicit constexpr DataRate(int64_t bps) : RelativeQuantity(bps) {}
};

// The rate of `size` over `duration`, which must be positive.
constexpr DataRate operator/(DataSize size, TimeDelta duration) {
  return DataRate::BitsPerSecond(internal::SaturatingMulDiv(size.bytes(), 8'000'000, duration.us()));
}

// The time that `size` takes at `rate`, which must be positive.
constexpr TimeDelta operator/(DataSize size, DataRate rate) {
  return TimeDelta::Micros(internal::SaturatingMulDiv(size.bytes(), 8'000'000, rate.bps()));
}

// The data sent at `rate` during `duration`, both finite.
constexpr DataSize operator*(DataRate rate, TimeDelta duration) {
  return DataSize::Bytes(internal::SaturatingMulDiv(rate.bps(), duration.us(), 8'000'000));
}

}  // namespace weir

#endif  // WEIR_UNITS_H_
