// Shared parts of the C interface: errors without exceptions, structs of any version, models, and the estimator that a
// config describes.
#ifndef WEIR_ESTIMATOR_SRC_C_C_API_H_
#define WEIR_ESTIMATOR_SRC_C_C_API_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "../../c/weir.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"
#include "weir/result.h"

// One user of the model; estimators and senders are others.
struct weir_model {
  std::shared_ptr<const weir::PolicyModel> model;
};

namespace weir::internal {

// Keeps `message` for weir_last_error() and returns `error`.
int Fail(weir_error error, std::string_view message) noexcept;
inline int FailArgument(std::string_view message) noexcept { return Fail(WEIR_ERROR_INVALID_ARGUMENT, message); }
inline constexpr std::string_view kBadStruct = "a struct is NULL, or its struct_size is wrong";

// The caller's buffer for error messages.
struct ErrorText {
  char* text = nullptr;
  size_t size_bytes = 0;

  // Returns `result`; writes the message of Fail() first where it is an error.
  int Report(int result) const noexcept;
};

// Calls `function`; no exception leaves.
template <class Function>
int Guarded(Function function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Fail(WEIR_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return Fail(WEIR_ERROR_INTERNAL, exception.what());
  } catch (...) {
    return Fail(WEIR_ERROR_INTERNAL, "an exception of unknown type");
  }
}

inline constexpr size_t kMaxStructSize = 4096;

// Nothing when the pointer is null, the struct is too small, or a byte beyond this version's struct is not zero.
template <class Struct>
std::optional<Struct> ReadStruct(const Struct* in) noexcept {
  if (in == nullptr || in->struct_size < sizeof(Struct) || in->struct_size > kMaxStructSize) return std::nullopt;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (size_t i = sizeof(Struct); i < in->struct_size; ++i) {
    if (bytes[i] != 0) return std::nullopt;
  }
  return *in;
}

// Sets this version's part of *out, except its struct_size; returns WEIR_OK or an error.
template <class Struct>
int WriteStruct(Struct value, Struct* out) noexcept {
  if (out == nullptr || out->struct_size < sizeof(Struct)) return FailArgument(kBadStruct);
  value.struct_size = out->struct_size;
  *out = value;
  return WEIR_OK;
}

// Zeros, the caller's size, and the default rates.
template <class Config>
bool InitConfig(Config* config, size_t struct_size) noexcept {
  if (config == nullptr || struct_size < sizeof(Config) || struct_size > kMaxStructSize) return false;
  std::memset(config, 0, struct_size);
  const TargetRateConstraints constraints;
  config->struct_size = struct_size;
  config->min_rate_bps = constraints.min_rate.bps();
  config->start_rate_bps = constraints.start_rate.bps();
  config->max_rate_bps = constraints.max_rate.bps();
  return true;
}

inline constexpr std::string_view kNullHandle = "the handle is NULL";

// Guarded, on a handle that has an `error`.
template <class Handle, class Function>
int OnHandle(Handle* handle, Function function) noexcept {
  if (handle == nullptr) return FailArgument(kNullHandle);
  return handle->error.Report(Guarded(function));
}

Result<TargetRateConstraints> MakeConstraints(int64_t min_bps, int64_t start_bps, int64_t max_bps);

inline constexpr std::string_view kBadTime = "now_us is not a time: it must be within 2^61 of 0";

inline constexpr std::string_view kBadObjective = "the objective's weights must be finite and above 0";

// `loaded`, else the ONNX in memory; the error when neither is given, or both are.
Result<std::shared_ptr<const PolicyModel>> ModelOf(const weir_model* loaded, const void* model,
                                                   size_t model_size_bytes);

struct EstimatorParts {
  BandwidthEstimatorConfig config;
  std::unique_ptr<PoolController> controller;
};

// The `error` of `config`; empty when it cannot be read.
ErrorText ErrorTextOf(const weir_estimator_config* config) noexcept;

// WEIR_OK and the controller that `config` names; it may be null. May throw.
int MakeController(const weir_estimator_config* config, std::unique_ptr<PoolController>& controller);
// WEIR_OK and `parts`. May throw.
int MakeEstimatorParts(const weir_estimator_config* config, EstimatorParts& parts);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_C_C_API_H_
