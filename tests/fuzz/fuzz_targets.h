// The bodies of the fuzzers: each takes any bytes and aborts when something that must always hold does not. libFuzzer
// drives them (fuzzer_main.cc), and so does a seeded unit test (fuzz_test.cc).
#ifndef WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_
#define WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace weir::fuzz {

// REMB: what parses can be written again and then means the same.
void FuzzRemb(std::span<const uint8_t> bytes);
// RTP packets: delays that are none, times in order, finite statistics.
void FuzzArrivals(std::span<const uint8_t> bytes);
// A model file: refused with a message, or usable with finite results.
void FuzzModel(std::span<const uint8_t> bytes);
// Any sequence of calls of the estimator: bounds, time, determinism.
void FuzzEstimator(std::span<const uint8_t> bytes);
// The line of a pool: refused with a short message, or its shortest form means the same.
void FuzzPoolLine(std::span<const uint8_t> bytes);
// Any sequence of calls of the C interface, with any arguments that are not wild pointers.
void FuzzCApi(std::span<const uint8_t> bytes);

// A scenario file: refused with a message, or within its bounds.
void FuzzScenario(std::span<const uint8_t> bytes);
// The input of `weir-sim serve`: frames, and the request in them.
void FuzzServe(std::span<const uint8_t> bytes);

// For invariants; not assert(), which release builds drop.
#define WEIR_FUZZ_CHECK(condition)                                                       \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

}  // namespace weir::fuzz

#endif  // WEIR_TESTS_FUZZ_FUZZ_TARGETS_H_
