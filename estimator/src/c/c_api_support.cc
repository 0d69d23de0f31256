#include "c_api_support.h"

#include <array>

namespace weir::internal {
namespace {

// Fixed size: keeping an error must not need memory.
thread_local std::array<char, 512> last_error{};

}  // namespace

int Fail(weir_error error, std::string_view message) noexcept {
  const size_t size = std::min(message.size(), last_error.size() - 1);
  std::copy_n(message.data(), size, last_error.data());
  last_error[size] = '\0';
  return error;
}

}  // namespace weir::internal

const char* weir_version(void) noexcept { return WEIR_VERSION; }

const char* weir_last_error(void) noexcept { return weir::internal::last_error.data(); }
