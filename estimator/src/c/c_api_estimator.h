// What of the C interface makes an estimator, at either end.
#ifndef WEIR_SRC_C_C_API_ESTIMATOR_H_
#define WEIR_SRC_C_C_API_ESTIMATOR_H_

#include <optional>
#include <utility>

#include "../../c/weir.h"
#include "c_api_support.h"
#include "weir/bandwidth_estimator.h"
#include "weir/pool/controller_pool.h"

namespace weir::internal {

struct EstimatorParts {
  EstimatorParts(BandwidthEstimatorConfig estimator_config, ControllerPool controllers)
      : config(std::move(estimator_config)), pool(std::move(controllers)) {}

  BandwidthEstimatorConfig config;
  ControllerPool pool;
};

// Where calls on what is made from `config` write why they failed; nowhere when it cannot be read.
ErrorText ErrorTextOf(const weir_estimator_config* config) noexcept;

// WEIR_OK and `parts`, or what was wrong with `config`, which may be null. May throw.
int MakeEstimatorParts(const weir_estimator_config* config, std::optional<EstimatorParts>& parts);

}  // namespace weir::internal

#endif  // WEIR_SRC_C_C_API_ESTIMATOR_H_
