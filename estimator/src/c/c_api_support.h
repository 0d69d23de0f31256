// What the functions of the C interface share: errors without exceptions, structs of any version.
#ifndef WEIR_ESTIMATOR_SRC_C_C_API_SUPPORT_H_
#define WEIR_ESTIMATOR_SRC_C_C_API_SUPPORT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "../../c/weir.h"
#include "weir/network_control.h"
#include "weir/rate_controller.h"

namespace weir::internal {

// Keeps `message` for weir_last_error() and returns `error`.
int Fail(weir_error error, std::string_view message) noexcept;

// Where a caller wants to read what went wrong.
struct ErrorText {
  char* text = nullptr;
  size_t size_bytes = 0;

  // `result`, having written the message of Fail() where it is an error.
  int Told(int result) const noexcept;
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

// Nothing when the pointer is null, or the struct too small, or larger than this version knows with anything but zeros
// beyond.
template <class Struct>
std::optional<Struct> ReadStruct(const Struct* in) noexcept {
  if (in == nullptr || in->struct_size < sizeof(Struct) || in->struct_size > kMaxStructSize) return std::nullopt;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (size_t i = sizeof(Struct); i < in->struct_size; ++i) {
    if (bytes[i] != 0) return std::nullopt;
  }
  return *in;
}

// Sets the part of *out that this version knows, its struct_size apart.
template <class Struct>
bool WriteStruct(Struct value, Struct* out) noexcept {
  if (out == nullptr || out->struct_size < sizeof(Struct)) return false;
  value.struct_size = out->struct_size;
  *out = value;
  return true;
}

// Zeros, the size that the caller knows, and the default rates.
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

inline int FailArgument(std::string_view message) noexcept { return Fail(WEIR_ERROR_INVALID_ARGUMENT, message); }

// Guarded, on a handle that has an `error`.
template <class Handle, class Function>
int OnHandle(Handle* handle, Function function) noexcept {
  if (handle == nullptr) return FailArgument(kNullHandle);
  return handle->error.Told(Guarded(function));
}

inline std::optional<TargetRateConstraints> MakeConstraints(int64_t min_bps, int64_t start_bps,
                                                            int64_t max_bps) noexcept {
  return Validated(
      {DataRate::BitsPerSecond(min_bps), DataRate::BitsPerSecond(start_bps), DataRate::BitsPerSecond(max_bps)});
}

inline constexpr std::string_view kBadTime = "now_us is not a time: it must be within 2^61 of 0";

inline constexpr std::string_view kBadConstraints =
    "the rates must be finite, above 0, and min_rate_bps at most max_rate_bps";
inline constexpr std::string_view kBadObjective = "the objective's weights must be finite and above 0";

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_C_C_API_SUPPORT_H_
