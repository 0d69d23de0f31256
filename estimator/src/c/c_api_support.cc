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

int ErrorText::Told(int result) const noexcept {
  if (result >= 0 || text == nullptr || size_bytes == 0) return result;
  const std::string_view message(last_error.data());
  const size_t size = std::min(message.size(), size_bytes - 1);
  std::copy_n(message.data(), size, text);
  text[size] = '\0';
  return result;
}

}  // namespace weir::internal

const char* weir_version(void) noexcept { return WEIR_VERSION; }

const char* weir_last_error(void) noexcept { return weir::internal::last_error.data(); }
