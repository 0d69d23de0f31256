#include "sender/observation.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "rtc_base/message_digest.h"

namespace weir {
namespace {

// Returns `value` / `unit`, whatever the locale. `value` is at least 0, `unit` a power of 10.
std::string Decimal(int64_t value, int64_t unit) {
  return std::to_string(value / unit) + '.' + std::to_string(unit + value % unit).substr(1);
}

// Returns a JSON string. Bytes outside ASCII become question marks, since identifiers may have any.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c >= ' ' && c <= '~' ? c : '?';
  }
  return quoted + '"';
}

std::string Bps(std::optional<DataRate> rate) { return rate ? std::to_string(rate->bps()) : "null"; }

}  // namespace

bool IsInShare(std::string_view connection, double share) {
  std::array<uint8_t, 32> digest{};
  webrtc::ComputeDigest(webrtc::DIGEST_SHA_256, connection.data(), connection.size(), digest.data(), digest.size());
  double fraction = 0;
  // 56 bits, beyond the precision of a double.
  for (size_t i = 7; i-- > 0;) fraction = (fraction + digest[i]) / 256;
  return fraction < share;
}

std::string FirstLine(Timestamp begin, std::string_view connection, std::string_view host, std::string_view other) {
  return R"({"type":"log","begin_us":)" + std::to_string(begin.us()) + R"(,"feedback":"transport-cc","connection":)" +
         Quoted(connection) + R"(,"host":)" + Quoted(host) + R"(,"other":)" + Quoted(other) + "}";
}

std::string ObservationLine(const Observation& observation, std::string_view other) {
  const EstimatorStatistics& weir = observation.weir;
  return R"({"type":"observation","time_us":)" + std::to_string(observation.at_time.us()) + R"(,"in_charge":)" +
         Quoted(observation.weir_is_in_charge ? "weir" : other) + R"(,"other_bps":)" + Bps(observation.other_target) +
         R"(,"weir_bps":)" + Bps(weir.target_rate) + R"(,"weir_reason":)" + Quoted(ToString(weir.reason)) +
         R"(,"received_bps":)" + Bps(weir.last_second.receive_rate) + R"(,"loss_ratio":)" +
         Decimal(std::llround(1e6 * weir.last_second.loss_ratio), 1'000'000) + R"(,"queueing_delay_ms":)" +
         Decimal(weir.last_second.queueing_delay.us(), 1'000) + "}";
}

std::string ViewerLine(Timestamp at_time, int64_t freezes, TimeDelta frozen) {
  return R"({"type":"viewer","time_us":)" + std::to_string(at_time.us()) + R"(,"freezes":)" + std::to_string(freezes) +
         R"(,"frozen_ms":)" + Decimal(frozen.us(), 1'000) + "}";
}

}  // namespace weir
