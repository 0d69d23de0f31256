// libwebrtc's receiver side in simulated time, fed packet by packet.
#ifndef WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_
#define WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"
#include "modules/congestion_controller/include/receive_side_congestion_controller.h"
#include "modules/rtp_rtcp/include/rtp_header_extension_map.h"
#include "modules/rtp_rtcp/source/rtcp_packet.h"
#include "modules/rtp_rtcp/source/rtcp_packet/remb.h"
#include "modules/rtp_rtcp/source/rtcp_packet/transport_feedback.h"
#include "modules/rtp_rtcp/source/rtp_header_extensions.h"
#include "modules/rtp_rtcp/source/rtp_packet_received.h"
#include "system_wrappers/include/clock.h"

namespace weir::testing {

struct Remb {
  int64_t time_us;
  int64_t bitrate_bps;
  std::vector<uint32_t> ssrcs;
};

inline constexpr uint32_t kSsrc = 0x11EB21C;

// The fields of a call's next packets.
struct RtpFields {
  uint32_t ssrc = kSsrc;
  uint8_t payload_type = 96;
  bool has_abs_send_time = true;
  bool has_transport_sequence_number = false;
  // The packet has no media, as in a probe.
  bool is_padding = false;
};

class ReceiveSideCall {
 public:
  ReceiveSideCall()
      : controller_(
            webrtc::CreateEnvironment(static_cast<webrtc::Clock*>(&clock_)),
            [this](const std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>& packets) {
              const int before = transport_feedbacks_;
              for (const auto& packet : packets) {
                const uint8_t type = packet->Build().data()[1];
                if (type == webrtc::rtcp::Remb::kPacketType) {
                  const auto& remb = static_cast<const webrtc::rtcp::Remb&>(*packet);
                  rembs_.push_back({clock_.TimeInMicroseconds(), remb.bitrate_bps(), remb.ssrcs()});
                  continue;
                }
                const bool is_feedback = type == webrtc::rtcp::TransportFeedback::kPacketType;
                ++(is_feedback ? transport_feedbacks_ : remote_estimates_);
                if (!is_feedback) continue;
                const auto& feedback = static_cast<const webrtc::rtcp::TransportFeedback&>(*packet);
                reported_losses_ +=
                    static_cast<int64_t>(feedback.GetPacketStatusCount() - feedback.GetReceivedPackets().size());
              }
              most_feedbacks_in_a_packet_ = std::max(most_feedbacks_in_a_packet_, transport_feedbacks_ - before);
            },
            [this](int64_t bitrate_bps, std::vector<uint32_t> ssrcs) {
              rembs_.push_back({clock_.TimeInMicroseconds(), bitrate_bps, std::move(ssrcs)});
            }) {
    extensions_.Register<webrtc::AbsoluteSendTime>(1);
    extensions_.Register<webrtc::TransportSequenceNumber>(2);
  }

  // Receives a packet delayed by `queueing_delay_ms`. The kernel's clock, which stamps packets, is not libwebrtc's.
  void Receive(size_t payload_size, double queueing_delay_ms) {
    ReceiveAt(webrtc::Timestamp::Millis(wall_clock_ms_ + clock_.TimeInMilliseconds()), payload_size, queueing_delay_ms);
  }
  void ReceiveAt(webrtc::Timestamp arrival_time, size_t payload_size, double queueing_delay_ms = 0) {
    webrtc::RtpPacketReceived packet(&extensions_, arrival_time);
    packet.SetSsrc(fields_.ssrc);
    packet.SetPayloadType(fields_.payload_type);
    packet.SetSequenceNumber(++sequence_number_);
    packet.SetTimestamp(sequence_number_ * 3000u);
    const auto sent_us = clock_.TimeInMicroseconds() - static_cast<int64_t>(queueing_delay_ms * 1000);
    if (fields_.has_abs_send_time)
      packet.SetExtension<webrtc::AbsoluteSendTime>(
          webrtc::AbsoluteSendTime::To24Bits(webrtc::Timestamp::Micros(sent_us)));
    if (fields_.has_transport_sequence_number) packet.SetExtension<webrtc::TransportSequenceNumber>(sequence_number_);
    if (fields_.is_padding) {
      packet.SetPadding(std::min<size_t>(payload_size, 255));
    } else {
      packet.SetPayloadSize(payload_size);
    }
    controller_.OnReceivedPacket(packet, webrtc::MediaType::VIDEO);
  }

  // Receives `rate_bps` (0: no packets) for `duration_ms` in packets of 1000 bytes and header. The timer runs as in a
  // call.
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

  // Loses the next packet.
  void Lose() { ++sequence_number_; }
  void SetWallClock(int64_t step_ms) { wall_clock_ms_ += step_ms; }

  webrtc::ReceiveSideCongestionController& controller() { return controller_; }
  webrtc::SimulatedClock& clock() { return clock_; }
  RtpFields& fields() { return fields_; }
  std::vector<Remb>& rembs() { return rembs_; }
  int transport_feedbacks() const { return transport_feedbacks_; }
  int most_feedbacks_in_a_packet() const { return most_feedbacks_in_a_packet_; }
  int remote_estimates() const { return remote_estimates_; }
  int64_t reported_losses() const { return reported_losses_; }

 private:
  webrtc::SimulatedClock clock_{int64_t{1'000'000'000}};
  std::vector<Remb> rembs_;
  int transport_feedbacks_ = 0;
  int most_feedbacks_in_a_packet_ = 0;
  int remote_estimates_ = 0;
  int64_t reported_losses_ = 0;
  webrtc::RtpHeaderExtensionMap extensions_;
  RtpFields fields_;
  uint16_t sequence_number_ = 0;
  int64_t wall_clock_ms_ = 1'700'000'000'000;
  int64_t next_process_us_ = 0;
  webrtc::ReceiveSideCongestionController controller_;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_WEBRTC_PATCH_RECEIVE_SIDE_CALL_H_
