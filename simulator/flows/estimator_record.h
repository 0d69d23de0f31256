// The estimator's part of a flow's record.
#ifndef WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_
#define WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_

#include <nlohmann/json.hpp>

#include "weir/bandwidth_estimator.h"
#include "weir/pool_controller.h"

namespace weir::sim {

// Adds the guard's interventions by rule, decisions and faults. For a pool of several members, also adds each member's
// role at the end and its share of the active decisions. `pool` may be null.
void AddEstimator(const EstimatorCounters& counters, const PoolController* pool, nlohmann::ordered_json& record);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_
