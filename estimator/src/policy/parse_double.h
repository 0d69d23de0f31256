// std::from_chars of a double, which libc++ has since version 20; Debian's builds of Chromium have 19.
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

// Decimal, as JSON has it, in any locale; `value` stays unless the result is a success. Infinity and NaN are no numbers
// where libc++ lacks the function.
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
