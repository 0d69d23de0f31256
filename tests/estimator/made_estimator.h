// Estimators with a valid configuration.
#ifndef WEIR_TESTS_ESTIMATOR_MADE_ESTIMATOR_H_
#define WEIR_TESTS_ESTIMATOR_MADE_ESTIMATOR_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "weir/bandwidth_estimator.h"
#include "weir/send_side_estimator.h"

namespace weir {

template <class Estimator>
Estimator ValueOf(Result<Estimator> made) {
  if (made) return std::move(made.value());
  std::fprintf(stderr, "%s\n", made.error().c_str());
  std::abort();
}

inline BandwidthEstimator MadeEstimator(const BandwidthEstimatorConfig& config,
                                        std::unique_ptr<ReceiverController> controller) {
  return ValueOf(BandwidthEstimator::Create(config, std::move(controller)));
}

inline SendSideEstimator MadeSendSideEstimator(const SendSideEstimatorConfig& config,
                                               std::unique_ptr<ReceiverController> controller) {
  return ValueOf(SendSideEstimator::Create(config, std::move(controller)));
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_MADE_ESTIMATOR_H_
