// std::from_chars for double. libc++ has it since version 20, but Debian builds Chromium with version 19.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_PARSE_DOUBLE_H_
#define WEIR_ESTIMATOR_SRC_POLICY_PARSE_DOUBLE_H_

#include <charconv>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <algorithm>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#endif

namespace weir {

// Parses a decimal number as in JSON, independently of the locale. Leaves `value` unchanged unless it succeeds. Does
// not parse infinity and NaN if libc++ lacks the function.
inline std::from_chars_result ParseDouble(const char* begin, const char* end, double& value) {
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
  constexpr std::string_view kInNumbers = "0123456789.eE+-";
  const char* const stop = std::find_if(begin, end, [&](char c) { return kInNumbers.find(c) == kInNumbers.npos; });
  if (begin == stop || *begin == '+') return {begin, std::errc::invalid_argument};
  std::istringstream stream(std::string(begin, stop));
  stream.imbue(std::locale::classic());
  double read = 0;
  if (!(stream >> read)) return {begin, std::errc::invalid_argument};
  value = read;
  return {stream.eof() ? stop : begin + stream.tellg(), std::errc()};
#else
  return std::from_chars(begin, end, value);
#endif
}

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_PARSE_DOUBLE_H_
