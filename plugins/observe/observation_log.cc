#include "observation_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

namespace weir::observe {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 28;

std::string Hex(uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

// Returns a JSON string.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += "\\u" + Hex(static_cast<unsigned char>(c)).substr(12);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Returns `value` with `decimals` digits, whatever the locale.
std::string Fixed(double value, int decimals) {
  std::array<char, 64> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text.data(), end) : "0";
}

int64_t UnixTimeUs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

ObservationLog::ObservationLog(std::string folder, const ConnectionId& id, LogHeader header)
    : folder_(std::move(folder)), hash_(id.hash), header_(std::move(header)) {}

bool ObservationLog::Begin(int64_t now_us) {
  const int64_t unix_us = UnixTimeUs();
  unix_minus_monotonic_us_ = unix_us - now_us;
  // A connection may have both directions, and come again.
  const std::string path =
      folder_ + '/' + Hex(hash_) + '-' + header_.other + '-' + std::to_string(unix_us) + ".observed.jsonl";
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (descriptor >= 0) file_.reset(fdopen(descriptor, "w"));
  return file_ && WriteLine(R"({"type":"log","begin_us":)" + std::to_string(unix_us) + R"(,"feedback":)" +
                            Quoted(header_.feedback) + R"(,"connection":)" + Quoted(header_.connection) +
                            R"(,"host":)" + Quoted(header_.host) + R"(,"other":)" + Quoted(header_.other) + "}\n");
}

bool ObservationLog::WriteLine(const std::string& line) {
  bytes_ += line.size();
  return bytes_ <= kMaxBytes && std::fputs(line.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0;
}

bool ObservationLog::Write(const weir_estimator_statistics& statistics, bool weir_in_charge,
                           std::optional<int64_t> other_bps, int64_t now_us) {
  if (!is_open()) return true;
  const bool is_begun = file_ || Begin(now_us);
  if (is_begun &&
      WriteLine(R"({"type":"observation","time_us":)" + std::to_string(now_us + unix_minus_monotonic_us_) +
                R"(,"in_charge":)" + Quoted(weir_in_charge ? "weir" : header_.other) + R"(,"other_bps":)" +
                (other_bps ? std::to_string(*other_bps) : "null") + R"(,"weir_bps":)" +
                std::to_string(statistics.target_rate_bps) + R"(,"weir_reason":)" + Quoted(statistics.reason) +
                R"(,"received_bps":)" + std::to_string(statistics.receive_rate_bps) + R"(,"loss_ratio":)" +
                Fixed(statistics.loss_ratio, 6) + R"(,"queueing_delay_ms":)" +
                Fixed(1e-3 * static_cast<double>(statistics.queueing_delay_us), 3) + "}\n")) {
    return true;
  }
  file_.reset();
  folder_.clear();
  return false;
}

}  // namespace weir::observe
