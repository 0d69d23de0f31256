// The packets of a virtual call, as its flow's observer counts them.
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_PACKETS_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_PACKETS_H_

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/sim_time.h"
#include "endpoints/flow.h"
#include "virtual_call/call_path.h"
#include "virtual_call/frame_log.h"

namespace weir::sim {

// Follows RTP and RTCP from the sender to the receiver. The flow's observer receives the RTP packets.
class MediaPackets final : public PathObserver {
 public:
  // Both arguments must outlive this object.
  MediaPackets(const Flow& flow, FrameLog* frames) : flow_(flow), frames_(frames) {}

  // Adds the count of FEC to a flow's record.
  void AddTo(nlohmann::ordered_json& record) const { record["fec_bytes_sent"] = fec_bytes_sent_; }

  // Adopts the payload types and header extensions of an answer. Call first before the scenario starts.
  void OnAnswer(const std::string& sdp);

  void OnSent(Packet& packet, std::span<uint8_t> data) override;
  void OnReceived(const Packet& packet, std::span<const uint8_t> data, SimTime arrival_time) override;
  void OnDropped(const Packet& packet, std::span<const uint8_t> data) override;

 private:
  // Changes abs-send-time to the sender's clock in the scenario.
  void ShowSenderClock(std::span<uint8_t> data, SimTime time) const;

  const Flow& flow_;
  FrameLog* const frames_;
  // By payload type.
  std::array<PacketKind, 128> kinds_{};
  // Payload types of RED (RFC 2198) and of the ULPFEC in it (RFC 5109); -1: not negotiated.
  int red_ = -1;
  int ulpfec_ = -1;
  int64_t fec_bytes_sent_ = 0;  // with headers
  // Number of the header extension; 0 until it is negotiated.
  int abs_send_time_id_ = 0;
};

// Follows RTCP from the receiver to the sender. All of it counts as feedback.
class RtcpPackets final : public PathObserver {
 public:
  explicit RtcpPackets(FlowObserver* observer) : observer_(observer) {}

  // Adds the counts of feedback to a flow's record.
  void AddTo(nlohmann::ordered_json& record) const;

  void OnSent(Packet& packet, std::span<uint8_t> data) override;
  void OnReceived(const Packet& packet, std::span<const uint8_t> data, SimTime arrival_time) override;
  void OnDropped(const Packet& packet, std::span<const uint8_t> data) override;

 private:
  FlowObserver* const observer_;
  int64_t packets_sent_ = 0;
  int64_t bytes_sent_ = 0;  // with UDP and IP
  int64_t packets_lost_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_PACKETS_H_
