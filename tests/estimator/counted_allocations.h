// Counts a program's allocations and makes them fail: linking counted_allocations.cc replaces operator new.
#ifndef WEIR_TESTS_ESTIMATOR_COUNTED_ALLOCATIONS_H_
#define WEIR_TESTS_ESTIMATOR_COUNTED_ALLOCATIONS_H_

#include <cstdint>

namespace weir {

// Calls of operator new since the program began, on all threads together; exact only while one thread runs.
int64_t CountedAllocations();

// From now on, `count` more succeed and none after them; if `count` is negative, all do.
void FailAllocationsAfter(int64_t count);

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_COUNTED_ALLOCATIONS_H_
