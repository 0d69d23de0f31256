// Shared parts of the C interface: errors without exceptions, models, controllers, configs.
#ifndef WEIR_ESTIMATOR_SRC_C_C_API_H_
#define WEIR_ESTIMATOR_SRC_C_C_API_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "../../c/weir.h"
#include "exceptions.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/result.h"

// One owner of the model; controllers and senders are others.
struct weir_model {
  std::shared_ptr<const weir::PolicyModel> model;
};

struct weir_controller {
  using Made = weir::Result<std::unique_ptr<weir::ReceiverController>>;

  std::function<Made(weir::DataRate start_rate)> make;
};

namespace weir::internal {

// Keeps `message` for weir_last_error() and returns `error`.
int Fail(weir_error error, std::string_view message) noexcept;
inline int FailArgument(std::string_view message) noexcept { return Fail(WEIR_ERROR_INVALID_ARGUMENT, message); }

// Calls `function` and turns exceptions into errors.
template <class Function>
int Guarded(Function function) noexcept {
  return WithoutExceptions(function, [](const CaughtException& caught) {
    if (caught.out_of_memory) return Fail(WEIR_ERROR_OUT_OF_MEMORY, "out of memory");
    return Fail(WEIR_ERROR_INTERNAL, caught.what);
  });
}

// Guarded(), or an error if the handle is null.
template <class Handle, class Function>
int OnHandle(Handle* handle, Function function) noexcept {
  return handle == nullptr ? FailArgument("the handle is NULL") : Guarded(function);
}

// Calls `make` to set *out, which is NULL on an error.
template <class Handle, class Function>
int Create(Handle** out, Function make) noexcept {
  if (out == nullptr) return FailArgument("the pointer for the handle is NULL");
  *out = nullptr;
  return Guarded([&] { return make(*out); });
}

// Copies the fields that both sides of the interface have, and sets the other fields of `to` to 0.
inline void CopyStruct(const void* from, size_t from_size, void* to, size_t to_size) noexcept {
  const size_t common = std::min(from_size, to_size);
  std::memcpy(to, from, common);
  std::memset(static_cast<char*>(to) + common, 0, to_size - common);
}

// Sets the `size` bytes of *out and returns WEIR_OK, or an error.
template <class Struct>
int WriteSized(const Struct& value, Struct* out, size_t size) noexcept {
  if (out == nullptr) return FailArgument("the pointer for the result is NULL");
  CopyStruct(&value, sizeof value, out, size);
  return WEIR_OK;
}

// Sets *out and returns WEIR_OK, or an error.
template <class Struct>
int Write(const Struct& value, Struct* out) noexcept {
  if (out == nullptr) return FailArgument("the pointer for the result is NULL");
  *out = value;
  return WEIR_OK;
}

TargetRateConstraints ToConstraints(const weir_target_rate_constraints& constraints);

inline constexpr std::string_view kBadEcn = "a packet's ECN field is above 3";
inline constexpr auto kLargestEcn = static_cast<uint32_t>(EcnMarking::kCe);
inline constexpr std::string_view kBadTime = "now_us is not a time: it must be within 2^61 of 0";
inline constexpr std::string_view kBadObjective = "the objective's weights must be finite and above 0";
inline constexpr std::string_view kBadRoundTripTime = "round_trip_time_us must be above 0 and at most a minute";

// Setters that both estimators share.
template <class Estimator>
int SetObjective(Estimator& estimator, float throughput, float latency, float loss) {
  const auto objective = NormalizedObjective(throughput, latency, loss);
  if (!objective) return FailArgument(kBadObjective);
  const auto error = estimator.SetObjective(*objective);
  return error ? FailArgument(error->message) : WEIR_OK;
}

template <class Estimator>
int SetConstraints(Estimator& estimator, const weir_target_rate_constraints* constraints, int64_t now_us) {
  if (constraints == nullptr) return FailArgument("the constraints are NULL");
  TargetRateConstraints given = ToConstraints(*constraints);
  given.at_time = Timestamp::Micros(now_us);
  if (!IsTime(given.at_time)) return FailArgument(kBadTime);
  const auto error = estimator.SetConstraints(given);
  return error ? FailArgument(error->message) : WEIR_OK;
}

// Makes the state of `controller` for one estimator.
weir_controller::Made MakeController(const weir_controller* controller, DataRate start_rate);
// Converts `config` (null: the defaults). Normalizes the objective; creating the estimator checks all other fields.
Result<BandwidthEstimatorConfig> ReadConfig(const weir_estimator_config* config);
// Writes the statistics of an estimator; the last second ends at `now`.
int WriteStatistics(const BandwidthEstimator& estimator, Timestamp now, weir_estimator_statistics* statistics,
                    size_t size_bytes);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_C_C_API_H_
