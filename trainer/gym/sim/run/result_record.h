// A run's result as JSON, "weir.result/1".
#ifndef WEIR_TRAINER_GYM_SIM_RUN_RESULT_RECORD_H_
#define WEIR_TRAINER_GYM_SIM_RUN_RESULT_RECORD_H_

#include <nlohmann/json.hpp>

#include "run/simulation.h"

namespace weir::sim {

// Runs the job to its end. The same job gives the same bytes whatever the process did before. Rates are whole bit/s and
// delays have six decimals of a millisecond, so nothing in a record depends on how a library prints numbers. Throws
// InputError.
nlohmann::ordered_json RunJob(const SimulationJob& job, bool series);

// {"weir": ..., "ns3": ..., "libwebrtc": ..., "onnxruntime": ...}
nlohmann::ordered_json Versions();

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_RESULT_RECORD_H_
