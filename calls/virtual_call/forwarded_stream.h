// One publisher's video as an SFU forwards it to one subscriber: an RTP stream of the layers that follow one another.
#ifndef WEIR_CALLS_VIRTUAL_CALL_FORWARDED_STREAM_H_
#define WEIR_CALLS_VIRTUAL_CALL_FORWARDED_STREAM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sim_time.h"
#include "virtual_call/simulcast_publisher.h"
#include "weir/units.h"

namespace weir::sim {

// The numbers that the subscriber's offer and answer negotiated.
struct ForwardedStreamConfig {
  uint32_t ssrc = 0;
  uint32_t rtx_ssrc = 0;
  uint8_t payload_type = 0;
  uint8_t rtx_payload_type = 0;
  // The ID of the extension with transport-wide sequence numbers.
  uint8_t transport_cc_id = 0;
};

// Writes RTP packets (RFC 3550, 7741, 4588). A layer is forwarded from its next key frame on; sequence numbers, picture
// IDs and timestamps continue. The host sets each packet's transport-wide number.
class ForwardedStream {
 public:
  using RtpData = std::vector<uint8_t>;
  static constexpr size_t kTransportNumberAt = 17;

  ForwardedStream(size_t publisher, const ForwardedStreamConfig& config) : publisher_(publisher), config_(config) {}

  size_t publisher() const { return publisher_; }
  const ForwardedStreamConfig& config() const { return config_; }
  // The layer that is forwarded and the one that is to be; -1: none.
  int layer() const { return layer_; }
  int wanted_layer() const { return wanted_layer_; }

  // Stops at once with -1.
  void Want(int layer);
  // Returns the packet to send; nullopt if its layer is not forwarded.
  std::optional<RtpData> Forward(const SimulcastPacket& packet);
  // Returns a retransmission (RFC 4588) of the packet with this number; nullopt if it is not in the history, or was
  // retransmitted within the round trip before `now`.
  std::optional<RtpData> Retransmit(uint16_t sequence_number, Timestamp now, TimeDelta round_trip_time);
  // Packets that were forwarded, and retransmissions of packets that had been retransmitted before.
  int64_t packets() const { return packets_; }
  int64_t repeated_retransmissions() const { return repeated_retransmissions_; }
  // Returns a packet of padding in the stream of retransmissions, which the receiver discards.
  RtpData Pad(uint8_t padding_bytes);

  // Capture time of a forwarded frame, by its RTP timestamp; nullopt: it was never forwarded, or long ago.
  std::optional<SimTime> CaptureTime(uint32_t rtp_timestamp) const;

 private:
  static constexpr size_t kHistory = 1024;
  struct SentPacket {
    RtpData data;
    Timestamp retransmission_time = Timestamp::MinusInfinity();
  };
  struct SentFrame {
    uint32_t rtp_timestamp = 0;
    SimTime capture_time = kNever;
  };

  RtpData Header(uint8_t payload_type, uint16_t number, uint32_t timestamp, uint32_t ssrc, bool marker) const;

  const size_t publisher_;
  const ForwardedStreamConfig config_;
  int layer_ = -1;
  int wanted_layer_ = -1;
  // Numbers of the next packet and frame.
  uint16_t number_ = 1000;
  uint16_t rtx_number_ = 1000;
  uint16_t picture_id_ = 0;
  // Timestamp of the latest forwarded frame, and the shift of the layer's timestamps.
  std::optional<uint32_t> timestamp_;
  uint32_t timestamp_shift_ = 0;
  std::array<SentPacket, kHistory> history_;
  std::array<SentFrame, kHistory> frames_;
  size_t next_frame_ = 0;
  int64_t packets_ = 0;
  int64_t repeated_retransmissions_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_FORWARDED_STREAM_H_
