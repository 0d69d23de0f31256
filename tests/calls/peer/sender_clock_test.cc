#include <gtest/gtest.h>

#include "programs/monotonic_clock.h"
#include "rtcp_observer.h"

namespace weir::peer {
namespace {

// The NTP time of this machine's wall clock, and CLOCK_MONOTONIC at that moment.
webrtc::NtpTime NtpNow() {
  const int64_t wall_us = ClockNs(CLOCK_REALTIME) / 1000;
  const auto seconds = static_cast<uint32_t>(wall_us / 1'000'000 + 2'208'988'800);
  const auto fractions = static_cast<uint32_t>((static_cast<uint64_t>(wall_us % 1'000'000) << 32) / 1'000'000);
  return {seconds, fractions};
}

TEST(SenderClock, MapsRtpTimestampsOfASharedClock) {
  SenderClock clock;
  EXPECT_EQ(clock.CaptureTimeMicros(1, 0), std::nullopt);
  const int64_t now_us = MonotonicMicros();
  clock.OnSenderReport(1, NtpNow(), 1000);
  EXPECT_NEAR(static_cast<double>(*clock.CaptureTimeMicros(1, 1000)), static_cast<double>(now_us), 2000);
  const int64_t base_us = *clock.CaptureTimeMicros(1, 1000);
  EXPECT_EQ(*clock.CaptureTimeMicros(1, 1000 + 9000), base_us + 100'000);
  // Before the report, over the wrap of RTP timestamps.
  EXPECT_EQ(*clock.CaptureTimeMicros(1, 1000u - 9000u), base_us - 100'000);
  EXPECT_EQ(clock.CaptureTimeMicros(2, 1000), std::nullopt);
}

TEST(SenderClock, InvalidTimesAndFloodsOfStreamsAreIgnored) {
  SenderClock clock;
  clock.OnSenderReport(7, webrtc::NtpTime(), 0);
  EXPECT_EQ(clock.CaptureTimeMicros(7, 0), std::nullopt);
  for (uint32_t ssrc = 0; ssrc < 1000; ++ssrc) clock.OnSenderReport(ssrc, NtpNow(), 0);
  EXPECT_NE(clock.CaptureTimeMicros(0, 0), std::nullopt);
  EXPECT_EQ(clock.CaptureTimeMicros(999, 0), std::nullopt);
}

}  // namespace
}  // namespace weir::peer
