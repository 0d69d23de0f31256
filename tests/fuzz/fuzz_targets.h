// The bodies of the fuzzers: each takes any bytes and aborts if an invariant does not hold. libFuzzer drives them
// (fuzzer_main.cc), and so does a seeded unit test (fuzz_test.cc).
#ifndef WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_
#define WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace weir::fuzz {

// REMB: a message that parses can be written, and parses to the same again.
void FuzzRemb(std::span<const uint8_t> bytes);
// RTP packets: finite delays that are not negative, times in order, finite statistics.
void FuzzArrivals(std::span<const uint8_t> bytes);
// A model file: refused with a message, or usable with finite results.
void FuzzModel(std::span<const uint8_t> bytes);
// Any sequence of calls of the estimator: bounds, time, determinism.
void FuzzEstimator(std::span<const uint8_t> bytes);
// A pool specification: refused with a short message, or its shortest form is equivalent.
void FuzzPoolLine(std::span<const uint8_t> bytes);
// Any sequence of calls of the C interface, with any arguments that are not wild pointers.
void FuzzCApi(std::span<const uint8_t> bytes);

// A scenario file: refused with a message, or within its bounds.
void FuzzScenario(std::span<const uint8_t> bytes);
// The input of `weir-sim serve`: frames, and the request in them.
void FuzzServe(std::span<const uint8_t> bytes);

// Checks invariants in release builds too, which drop assert().
#define WEIR_FUZZ_CHECK(condition)                                                       \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

}  // namespace weir::fuzz

#endif  // WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_
