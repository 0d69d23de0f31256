#include "arrival/send_clock_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(100);

// Frames of 30 Hz, captured, sent and received as a test wants; all in seconds since the beginning.
class Frames {
 public:
  // The clocks of the RTP timestamps and of abs-send-time, and what a frame waits before and after it is sent.
  std::function<double(double)> rtp_clock = [](double time) { return time; };
  std::function<double(double)> abs_clock = [](double time) { return time; };
  std::function<double(double)> in_pacer = [](double) { return 0.0; };
  std::function<double(double)> in_network = [](double time) { return 0.025 + 0.004 * std::abs(std::sin(7 * time)); };

  // True when abs-send-time is judged wrong at the end, or `ever` since.
  bool RunUntil(double end_s, bool ever = false) {
    for (; time_s_ < end_s; time_s_ += 1.0 / 30) {
      const double sent_s = time_s_ + in_pacer(time_s_);
      const Timestamp arrival = kStart + TimeDelta::SecondsF(sent_s + in_network(sent_s));
      PacketArrival packet;
      packet.ssrc = 1;
      packet.payload_size = 1000;
      check_.OnPacket(packet, arrival, {AbsSendTime(kStart + TimeDelta::SecondsF(abs_clock(sent_s))), 24, 1 << 18},
                      {static_cast<uint32_t>(std::llround(90'000 * rtp_clock(time_s_))), 32, 90'000});
      ever_wrong_ |= check_.abs_send_time_is_wrong();
    }
    return ever ? ever_wrong_ : check_.abs_send_time_is_wrong();
  }

 private:
  SendClockCheck check_;
  double time_s_ = 0;
  bool ever_wrong_ = false;
};

TEST(SendClockCheckTest, ASlowOrStandingAbsSendTimeIsWrong) {
  for (const double pace : {0.0, 0.5, 0.97, 0.99, 1.05}) {
    Frames frames;
    frames.abs_clock = [pace](double time) { return pace * time; };
    EXPECT_TRUE(frames.RunUntil(30)) << pace;
  }
}

TEST(SendClockCheckTest, ItIsRightAgainAfterItsClockIs) {
  Frames frames;
  frames.abs_clock = [](double time) { return time < 40 ? 0.9 * time : time - 4; };
  EXPECT_TRUE(frames.RunUntil(40));
  EXPECT_FALSE(frames.RunUntil(120));
}

TEST(SendClockCheckTest, WrongRtpTimestampsAreNoFaultOfAbsSendTime) {
  for (const double pace : {0.0, 0.97, 1.03}) {
    Frames frames;
    frames.rtp_clock = [pace](double time) { return pace * time; };
    EXPECT_FALSE(frames.RunUntil(90, true)) << pace;
  }
}

// A pacer's queue grows and drains, evenly or not, and so does the network's; one empties into the other.
TEST(SendClockCheckTest, QueuesAreNoDrift) {
  for (const double period_s : {3.0, 10.0, 20.0}) {
    Frames frames;
    const auto triangle = [period_s](double time) { return std::abs(std::fmod(time, period_s) / period_s - 0.5); };
    frames.in_pacer = [=](double time) { return triangle(time); };
    frames.in_network = [=](double time) { return 0.025 + 0.6 * (0.5 - triangle(time)); };
    EXPECT_FALSE(frames.RunUntil(120, true)) << period_s;
  }
}

TEST(SendClockCheckTest, StepsOfEitherClockAreNoDrift) {
  Frames frames;
  frames.abs_clock = [](double time) { return time < 20 ? time : time + 3; };
  frames.rtp_clock = [](double time) { return time < 30 ? time : time - 7; };
  EXPECT_FALSE(frames.RunUntil(90, true));
}

}  // namespace
}  // namespace weir
