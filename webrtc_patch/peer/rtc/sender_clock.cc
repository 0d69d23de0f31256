#include "rtc/sender_clock.h"

#include "program/monotonic_clock.h"

namespace weir::peer {
namespace {

constexpr int64_t kVideoClockHz = 90'000;
// A peer that invents SSRCs does not fill the memory.
constexpr size_t kMaxReports = 64;
constexpr int64_t kSecondsFrom1900To1970 = 2'208'988'800;

int64_t WallMicros(webrtc::NtpTime ntp) {
  const int64_t fraction_us = static_cast<int64_t>(uint64_t{ntp.fractions()} * 1'000'000 >> 32);
  return (int64_t{ntp.seconds()} - kSecondsFrom1900To1970) * 1'000'000 + fraction_us;
}

}  // namespace

SenderClock::SenderClock() : wall_to_monotonic_us_(MonotonicMicros() - ClockNs(CLOCK_REALTIME) / 1000) {}

void SenderClock::OnSenderReport(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp) {
  if (!ntp.Valid()) return;
  const std::lock_guard lock(mutex_);
  if (reports_.size() >= kMaxReports && !reports_.contains(ssrc)) return;
  reports_[ssrc] = {WallMicros(ntp) + wall_to_monotonic_us_, rtp_timestamp};
}

std::optional<int64_t> SenderClock::CaptureTimeMicros(uint32_t ssrc, uint32_t rtp_timestamp) const {
  const std::lock_guard lock(mutex_);
  const auto report = reports_.find(ssrc);
  if (report == reports_.end()) return std::nullopt;
  // Signed: a frame may be older than the report. The difference wraps as RTP timestamps do.
  const auto ticks = static_cast<int32_t>(rtp_timestamp - report->second.rtp_timestamp);
  return report->second.monotonic_us + int64_t{ticks} * 1'000'000 / kVideoClockHz;
}

}  // namespace weir::peer
