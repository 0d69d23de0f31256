// Pools of controllers that a test has already made.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_POOL_H_
#define WEIR_TESTS_ESTIMATOR_TEST_POOL_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/bandwidth_estimator.h"
#include "weir/guard.h"
#include "weir/pool_controller.h"

namespace weir {

using Controllers = std::vector<std::unique_ptr<ReceiverController>>;

// Replaces an initializer list, which cannot hold move-only controllers.
template <class... Some>
Controllers ControllersOf(Some... controllers) {
  Controllers all;
  (all.push_back(std::move(controllers)), ...);
  return all;
}

inline GuardOptions WithoutRule(std::string_view rule) {
  GuardOptions options;
  if (!options.SwitchOff(rule)) std::abort();
  return options;
}

inline std::string MemberName(size_t index) { return std::string("m").append(std::to_string(index)); }

// "m0" is the pilot, "m1" and so on are the copilots. `rest` gives fusion and policy.
inline std::unique_ptr<PoolController> PoolOf(Controllers controllers, PoolSpecification rest = {},
                                              PoolFunctions functions = {},
                                              std::unique_ptr<ReceiverController> fallback = nullptr) {
  rest.pilot = "m0";
  for (size_t i = 1; i < controllers.size(); ++i) rest.copilots.push_back(MemberName(i));
  size_t next = 0;
  auto pool = PoolController::Create(
      rest,
      [&](const std::string&) -> Result<std::unique_ptr<ReceiverController>> { return std::move(controllers[next++]); },
      std::move(functions), std::move(fallback));
  if (!pool) std::abort();
  return std::move(pool.value());
}

// The pool of an estimator that was made with one.
inline PoolController& PoolIn(BandwidthEstimator& estimator) { return *PoolIn(estimator.controller()); }

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_POOL_H_
