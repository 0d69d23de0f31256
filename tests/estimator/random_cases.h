// How many random cases a test has.
#ifndef WEIR_TESTS_ESTIMATOR_RANDOM_CASES_H_
#define WEIR_TESTS_ESTIMATOR_RANDOM_CASES_H_

#include <cstdint>

namespace weir {

// Each case takes many times as long under a sanitizer, which looks for faults of memory, not of behavior; the release
// build runs all.
#ifdef WEIR_IS_SANITIZED
constexpr uint32_t RandomCases(uint32_t all) { return (all + 4) / 5; }
#else
constexpr uint32_t RandomCases(uint32_t all) { return all; }
#endif

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_RANDOM_CASES_H_
