// The part of a flow's record that its estimator has.
#ifndef WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_
#define WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_

#include <nlohmann/json.hpp>

#include "pool/pool_controller.h"
#include "weir/bandwidth_estimator.h"

namespace weir::sim {

// Interventions of the guard by rule, decisions and faults; and for a pool of several the role of each member at the
// end, and its share of the active decisions. Null: there is no pool.
void AddEstimator(const EstimatorCounters& counters, const PoolController* pool, nlohmann::ordered_json& record);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_ESTIMATOR_RECORD_H_
