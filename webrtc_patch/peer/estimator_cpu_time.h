// CPU time of the receiver's estimator.
#ifndef WEIR_WEBRTC_PATCH_PEER_ESTIMATOR_CPU_TIME_H_
#define WEIR_WEBRTC_PATCH_PEER_ESTIMATOR_CPU_TIME_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace weir::peer {

// Nanoseconds, summed over all calls.
using CpuTime = std::atomic<int64_t>;

// Adds the CPU time of every call into an estimator of the installed factory to `total`: arrivals, decisions, and the
// log line and REMB that they cause.
void MeasureEstimators(std::shared_ptr<CpuTime> total);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_ESTIMATOR_CPU_TIME_H_
