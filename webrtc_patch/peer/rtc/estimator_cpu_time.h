// How much processor time the receiver's estimator takes.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_ESTIMATOR_CPU_TIME_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_ESTIMATOR_CPU_TIME_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace weir::peer {

// Nanoseconds, summed over all calls.
using CpuTime = std::atomic<int64_t>;

// From now on, every call into an estimator made by the installed factory adds its thread's processor time to `total`:
// arrivals, decisions, and what they cause at once, the log line and the REMB included.
void MeasureEstimators(std::shared_ptr<CpuTime> total);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_ESTIMATOR_CPU_TIME_H_
