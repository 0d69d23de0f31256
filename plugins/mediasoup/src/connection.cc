#include "connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace weir::mediasoup {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr size_t kMaxLogBytes = size_t{1} << 28;

// Returns a JSON string. Bytes outside ASCII become question marks.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c >= ' ' && c <= '~' ? c : '?';
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

Connection::Connection(const Settings& settings, std::string id, std::string other)
    : settings_(settings), id_(std::move(id)), other_(std::move(other)), share_(ShareOf(id_)) {}

bool Connection::IsWeirInCharge(int64_t now_us) const {
  return settings_.in_charge == nullptr || settings_.in_charge->IsInCharge(id_, share_, now_us);
}

bool Connection::ObservationIsDue(int64_t latest_packet_us, int64_t now_us) {
  if (settings_.folder.empty() || failed_ || (observed_at_us_ && now_us - *observed_at_us_ < kSecondUs)) return false;
  observed_at_us_ = now_us;
  return now_us - latest_packet_us <= kSecondUs;
}

void Connection::Observe(const weir_estimator_statistics& statistics, std::optional<int64_t> other_bps,
                         int64_t now_us) {
  if (file_ == nullptr) {
    const int64_t unix_us = UnixTimeUs();
    unix_offset_us_ = unix_us - now_us;
    // A transport may have both directions, and reconnect.
    const std::string path = settings_.folder + "/" +
                             std::to_string(static_cast<uint64_t>(share_ * (uint64_t{1} << 53))) + "-" + other_ + "-" +
                             std::to_string(getpid()) + "-" + std::to_string(unix_us) + ".observed.jsonl";
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (descriptor >= 0) file_.reset(fdopen(descriptor, "w"));
    Write(R"({"type":"log","begin_us":)" + std::to_string(unix_us) + R"(,"feedback":"transport-cc","connection":)" +
          Quoted(id_) + R"(,"host":"mediasoup","other":)" + Quoted(other_) + "}\n");
  }
  Write(R"({"type":"observation","time_us":)" + std::to_string(now_us + unix_offset_us_) + R"(,"in_charge":)" +
        Quoted(IsWeirInCharge(now_us) ? "weir" : other_) + R"(,"other_bps":)" +
        (other_bps ? std::to_string(*other_bps) : "null") + R"(,"weir_bps":)" +
        std::to_string(statistics.target_rate_bps) + R"(,"weir_reason":)" + Quoted(statistics.reason) +
        R"(,"received_bps":)" + std::to_string(statistics.receive_rate_bps) + R"(,"loss_ratio":)" +
        Fixed(statistics.loss_ratio, 6) + R"(,"queueing_delay_ms":)" +
        Fixed(1e-3 * static_cast<double>(statistics.queueing_delay_us), 3) + "}\n");
}

void Connection::Write(const std::string& line) {
  if (failed_) return;
  bytes_ += line.size();
  failed_ = file_ == nullptr || bytes_ > kMaxLogBytes || std::fputs(line.c_str(), file_.get()) < 0 ||
            std::fflush(file_.get()) != 0;
  if (!failed_) return;
  std::fprintf(stderr, "weir: the log of %s ends: %s\n", id_.c_str(),
               bytes_ > kMaxLogBytes ? "it is full" : std::strerror(errno));
  file_.reset();
}

}  // namespace weir::mediasoup
