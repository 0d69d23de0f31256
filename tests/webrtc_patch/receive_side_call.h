// libwebrtc's receiver side in simulated time, fed packet by packet.
#ifndef WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_
#define WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/rtp_headers.h"
#include "modules/congestion_controller/include/receive_side_congestion_controller.h"
#include "modules/rtp_rtcp/source/rtcp_packet.h"
#include "system_wrappers/include/clock.h"

namespace weir::testing {

struct Remb {
  int64_t time_us;
  int64_t bitrate_bps;
  std::vector<uint32_t> ssrcs;
};

inline constexpr uint32_t kSsrc = 0x11EB21C;

class ReceiveSideCall {
 public:
  ReceiveSideCall()
      : controller_(
            &clock_, [this](const std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>&) { ++transport_feedbacks_; },
            [this](int64_t bitrate_bps, std::vector<uint32_t> ssrcs) {
              rembs_.push_back({clock_.TimeInMicroseconds(), bitrate_bps, std::move(ssrcs)});
            },
            nullptr) {}

  // A packet that was `queueing_delay_ms` under way. The kernel's clock, which stamps packets, is not libwebrtc's.
  void Receive(size_t payload_size, double queueing_delay_ms) {
    header_.sequenceNumber++;
    header_.timestamp += 3000;
    header_.headerLength = 24;
    const double sent_s = static_cast<double>(clock_.TimeInMicroseconds()) * 1e-6 - queueing_delay_ms * 1e-3;
    header_.extension.absoluteSendTime = static_cast<uint32_t>(static_cast<int64_t>(sent_s * (1 << 18)) & 0xFFFFFF);
    if (header_.extension.hasTransportSequenceNumber) header_.extension.transportSequenceNumber++;
    controller_.OnReceivedPacket(wall_clock_ms_ + clock_.TimeInMilliseconds(), payload_size, header_);
  }

  // `rate_bps` in packets of 1000 bytes and their header for `duration_ms`; 0: no packets. The timer runs as in a call.
  void Run(int64_t duration_ms, int64_t rate_bps, double queueing_delay_ms = 0) {
    const int64_t end_us = clock_.TimeInMicroseconds() + duration_ms * 1000;
    const int64_t gap_us = rate_bps > 0 ? 1024 * 8 * int64_t{1'000'000} / rate_bps : INT64_MAX / 2;
    int64_t next_packet_us = clock_.TimeInMicroseconds() + gap_us;
    while (true) {
      const int64_t next_us = std::min(next_packet_us, next_process_us_);
      if (next_us > end_us) break;
      if (next_us > clock_.TimeInMicroseconds()) clock_.AdvanceTimeMicroseconds(next_us - clock_.TimeInMicroseconds());
      if (next_process_us_ <= next_us) {
        next_process_us_ = clock_.TimeInMicroseconds() + std::max<int64_t>(controller_.MaybeProcess().us(), 1);
      }
      if (next_packet_us <= next_us) {
        Receive(1000, queueing_delay_ms);
        next_packet_us += gap_us;
      }
    }
    clock_.AdvanceTimeMicroseconds(end_us - clock_.TimeInMicroseconds());
  }

  void SetWallClock(int64_t step_ms) { wall_clock_ms_ += step_ms; }

  webrtc::ReceiveSideCongestionController& controller() { return controller_; }
  webrtc::SimulatedClock& clock() { return clock_; }
  webrtc::RTPHeader& header() { return header_; }
  std::vector<Remb>& rembs() { return rembs_; }
  int transport_feedbacks() const { return transport_feedbacks_; }

  // A header as libwebrtc's RTP parsing leaves it.
  static webrtc::RTPHeader Header() {
    webrtc::RTPHeader header;
    header.ssrc = kSsrc;
    header.payloadType = 96;
    header.extension.hasAbsoluteSendTime = true;
    return header;
  }

 private:
  webrtc::SimulatedClock clock_{int64_t{1'000'000'000}};
  std::vector<Remb> rembs_;
  int transport_feedbacks_ = 0;
  webrtc::RTPHeader header_ = Header();
  int64_t wall_clock_ms_ = 1'700'000'000'000;
  int64_t next_process_us_ = 0;
  webrtc::ReceiveSideCongestionController controller_;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_
