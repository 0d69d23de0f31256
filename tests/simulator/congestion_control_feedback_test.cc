// The simulator's RFC 8888 feedback and that of libwebrtc's own generator, from the same arrivals.
#include "endpoints/congestion_control_feedback.h"

#include <gtest/gtest.h>

#if WEIR_LIBWEBRTC_MILESTONE >= 150

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"
#include "modules/remote_bitrate_estimator/congestion_control_feedback_generator.h"
#include "modules/rtp_rtcp/source/rtcp_packet/common_header.h"
#include "modules/rtp_rtcp/source/rtcp_packet/congestion_control_feedback.h"
#include "system_wrappers/include/clock.h"

namespace weir::sim {
namespace {

constexpr int64_t kOriginUs = 1'000'000'000;
constexpr int64_t kNotReceivedUs = -1;

struct Report {
  int64_t time_us = 0;
  // Arrival time offsets by stream and sequence number.
  std::map<std::pair<uint32_t, int64_t>, int64_t> packets;
};

Report ReportOf(const CongestionControlFeedback& feedback) {
  Report report{feedback.report_time_us, {}};
  for (uint32_t stream = 0; stream < feedback.streams.size(); ++stream) {
    int64_t sequence_number = feedback.streams[stream].base_sequence_number;
    for (const int64_t time_us : feedback.streams[stream].receive_times_us) {
      const bool received = time_us != TransportFeedback::kNotReceived;
      report.packets[{stream, sequence_number++}] = received ? feedback.report_time_us - time_us : kNotReceivedUs;
    }
  }
  return report;
}

// As it is on the wire.
Report ReportOf(int64_t time_us, const webrtc::rtcp::RtcpPacket& packet) {
  Report report{time_us, {}};
  const auto bytes = packet.Build();
  webrtc::rtcp::CommonHeader header;
  webrtc::rtcp::CongestionControlFeedback feedback;
  EXPECT_TRUE(header.Parse(bytes.data(), bytes.size()) && feedback.Parse(header));
  for (const auto& [ssrc, sequence_number, offset, ecn] : feedback.packets()) {
    report.packets[{ssrc, sequence_number}] = offset.IsFinite() ? offset.us() : kNotReceivedUs;
  }
  return report;
}

TEST(CongestionControlFeedbackTest, IsThatOfLibwebrtc) {
  std::mt19937_64 random(1);
  const auto below = [&random](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  webrtc::SimulatedClock clock(kOriginUs);
  const auto now_us = [&clock] { return clock.TimeInMicroseconds() - kOriginUs; };
  std::vector<Report> expected, reports;
  webrtc::CongestionControlFeedbackGenerator libwebrtc(
      webrtc::CreateEnvironment(&clock), [&](const std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>& packets) {
        for (const auto& packet : packets) expected.push_back(ReportOf(now_us(), *packet));
      });
  CongestionControlFeedbackGenerator ours;
  ours.Start(kTimeZero);
  int64_t poll_us = libwebrtc.Process(clock.CurrentTime()).us();

  int64_t next_numbers[2] = {};
  for (int i = 0; i < 5000; ++i) {
    // Bursts and pauses; every tenth packet is lost, and every twentieth comes after its successors.
    const int64_t arrival_us = now_us() + 1 + (below(10) == 0 ? below(300'000) : below(9'000));
    while (std::min(poll_us, ours.poll_time().us()) < arrival_us) {
      clock.AdvanceTimeMicroseconds(std::min(poll_us, ours.poll_time().us()) - now_us());
      if (poll_us <= now_us()) poll_us = now_us() + libwebrtc.Process(clock.CurrentTime()).us();
      if (const auto feedback = ours.OnTimeout(SimTime::Micros(now_us()))) reports.push_back(ReportOf(*feedback));
    }
    clock.AdvanceTimeMicroseconds(arrival_us - now_us());
    const int64_t stream = below(2);
    int64_t sequence_number = next_numbers[stream]++;
    if (sequence_number > 0 && below(10) == 0) sequence_number = next_numbers[stream]++;
    if (sequence_number > 9 && below(20) == 0) sequence_number -= 1 + below(5);

    Packet packet;
    packet.rtp.kind = stream == 0 ? PacketKind::kVideo : PacketKind::kAudio;
    packet.frame_part.last = stream == 0 && below(3) == 0;
    ours.OnPacket(packet, sequence_number, SimTime::Micros(arrival_us));
    if (const auto feedback = ours.OnTimeout(SimTime::Micros(arrival_us))) reports.push_back(ReportOf(*feedback));
    webrtc::RtpPacketReceived received(nullptr, clock.CurrentTime());
    received.SetSsrc(static_cast<uint32_t>(stream));
    received.SetSequenceNumber(static_cast<uint16_t>(sequence_number));
    received.SetMarker(packet.frame_part.last);
    libwebrtc.OnReceivedPacket(received);
  }
  EXPECT_GT(reports.size(), 1000u);
  ASSERT_EQ(reports.size(), expected.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].time_us, expected[i].time_us) << i;
    ASSERT_EQ(reports[i].packets, expected[i].packets) << i;
  }
}

}  // namespace
}  // namespace weir::sim

#endif
