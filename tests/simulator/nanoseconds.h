// Simulated times in tests.
#ifndef WEIR_TESTS_SIMULATOR_NANOSECONDS_H_
#define WEIR_TESTS_SIMULATOR_NANOSECONDS_H_

#include <compare>
#include <concepts>
#include <cstdint>
#include <ostream>

#include "core/sim_time.h"

namespace weir::sim {

// A number of nanoseconds that converts to a time since 0 and to a duration, so that tests write both alike.
class Ns {
 public:
  constexpr Ns(int64_t ns) : ns_(ns) {}
  constexpr Ns(SimTime time) : ns_(time.ns()) {}
  constexpr Ns(SimDuration duration) : ns_(duration.ns()) {}
  constexpr operator SimTime() const { return SimTime::Nanos(ns_); }
  constexpr operator SimDuration() const { return SimDuration::Nanos(ns_); }
  constexpr int64_t ns() const { return ns_; }

  constexpr Ns& operator+=(Ns other) {
    ns_ += other.ns_;
    return *this;
  }

 private:
  int64_t ns_;
};

// The operators take any mixture of these, of which at least one is Ns.
template <class T>
concept NsLike = std::same_as<T, Ns> || std::same_as<T, SimTime> || std::same_as<T, SimDuration> || std::integral<T>;
template <class A, class B>
concept AnyNs = NsLike<A> && NsLike<B> && (std::same_as<A, Ns> || std::same_as<B, Ns>);

template <class A, class B>
  requires AnyNs<A, B>
constexpr Ns operator+(A a, B b) {
  return Ns(a).ns() + Ns(b).ns();
}
template <class A, class B>
  requires AnyNs<A, B>
constexpr Ns operator-(A a, B b) {
  return Ns(a).ns() - Ns(b).ns();
}
template <class A, class B>
  requires AnyNs<A, B>
constexpr bool operator==(A a, B b) {
  return Ns(a).ns() == Ns(b).ns();
}
template <class A, class B>
  requires AnyNs<A, B>
constexpr std::strong_ordering operator<=>(A a, B b) {
  return Ns(a).ns() <=> Ns(b).ns();
}
constexpr Ns operator*(Ns a, std::integral auto factor) { return a.ns() * static_cast<int64_t>(factor); }
constexpr Ns operator*(std::integral auto factor, Ns a) { return a * factor; }
constexpr Ns operator/(Ns a, std::integral auto divisor) { return a.ns() / divisor; }

inline std::ostream& operator<<(std::ostream& out, Ns value) { return out << value.ns() << " ns"; }

inline constexpr Ns kMs = 1'000'000;
inline constexpr Ns kSecond = 1'000'000'000;

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIMULATOR_NANOSECONDS_H_
