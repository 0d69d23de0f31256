// A packet on a link of the simulator: an IP packet, reduced to what its sender, the link and its receiver need.
#ifndef WEIR_SIMULATOR_LINK_PACKET_H_
#define WEIR_SIMULATOR_LINK_PACKET_H_

#include <ns3/packet.h>
#include <ns3/ptr.h>

#include <cstdint>
#include <memory>

#include "weir/arrival.h"
#include "weir/units.h"

namespace weir::sim {

class PacketSink;

// IPv4 and UDP headers; what an RTP or RTCP packet weighs on a link beyond itself.
inline constexpr uint32_t kUdpIpOverheadBytes = 28;

// RTCP in flight. Never changed once sent.
struct RtcpMessage {
  virtual ~RtcpMessage() = default;
};

// For a packet of video and its retransmissions: what a receiver reads in the payload's descriptor.
struct FramePart {
  bool key_frame = false;
  bool first = false;
  bool last = false;
};

// For a packet of ULPFEC, which is one of video: it protects so many packets of a group, from the one with its media
// sequence number on, namely every `count`-th, beginning at `index`.
struct FecPart {
  uint8_t packets = 0;
  uint8_t index = 0;
  uint8_t count = 0;
};

// Why a link drops a packet: by chance, at a policer, at a queue (that is full, or by its discipline), or as it is
// down.
enum class DropCause : uint8_t { kChance, kPolicer, kQueue, kDown };

struct Packet {
  // The whole IP packet.
  uint32_t size_bytes = 0;
  // Receives the packet at the other end, or the drop. Outlives the simulation's last event.
  PacketSink* sink = nullptr;
  // When the sender handed it to the link, in ns of simulated time.
  int64_t sent_time_ns = 0;
  // When its media was captured, by a clock without error; of a frame, all packets have the same.
  int64_t capture_time_ns = 0;
  // Delay of this flow's own access path, added to the link's propagation delay.
  int64_t extra_delay_ns = 0;
  // The delay of the path itself, without queues and jitter; filled in by the link.
  int64_t path_delay_ns = 0;
  // For a dropped packet; filled in by the link.
  DropCause drop_cause = DropCause::kChance;

  // RTP. `rtp.arrival_time` is filled in by the receiver.
  PacketArrival rtp;
  int64_t transport_sequence_number = 0;
  // In the media's stream, unwrapped, FEC not counted; of a retransmission the original's (OSN, RFC 4588 section 4), of
  // FEC that of the first packet of its group.
  int64_t media_sequence_number = 0;
  FramePart frame_part;
  FecPart fec;

  // True of video proper, not of its retransmissions and FEC.
  bool is_original_video() const { return rtp.kind == PacketKind::kVideo && fec.packets == 0; }

  // One of these for what is not RTP.
  std::shared_ptr<const RtcpMessage> rtcp;
  ns3::Ptr<ns3::Packet> ip_packet;
};

// The receiving end of a flow.
class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // True when the sink wants OnPacket as an event at the arrival time (TCP, RTCP). False when it may be called as soon
  // as that time is known, which then lies in the future, even before Link::Send returns: RTP receivers act on their
  // own timers only, which saves an event a packet.
  virtual bool needs_event() const = 0;
  // `arrival_time_ns` is the time of arrival at the receiver. With needs_event() false, calls come in the order of
  // departure from the bottleneck; jitter that reorders may let later calls carry earlier arrival times.
  virtual void OnPacket(Packet&& packet, int64_t arrival_time_ns) = 0;
  // The queue or the loss model took it.
  virtual void OnDropped(const Packet& packet) = 0;
};

// Watches a flow: the recorder of `run`, the step statistics of `serve`. Sizes are those of whole IP packets. The
// defaults ignore the event.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;

  virtual void OnSent(const Packet&) {}
  // Invoked in the order of arrival; for RTP it may be some time after `arrival_time_ns`, never before it.
  virtual void OnReceived(const Packet&, int64_t /*arrival_time_ns*/) {}
  virtual void OnDropped(const Packet&) {}
  // FEC brought a packet back that had been dropped.
  virtual void OnRecovered(const Packet&, int64_t /*time_ns*/) {}
  virtual void OnTargetRate(DataRate, int64_t /*time_ns*/) {}
  // REMB or transport feedback; not called for other RTCP.
  virtual void OnFeedbackSent(int64_t /*time_ns*/) {}
  // The same feedback at the sender; a lost one never is.
  virtual void OnFeedbackReceived(int64_t /*sent_time_ns*/, int64_t /*time_ns*/) {}
  // The rate in a REMB, as it is sent.
  virtual void OnRembSent(DataRate, int64_t /*time_ns*/) {}
  // Payload that a TCP sender has sent and not seen acknowledged or lost, when it changes.
  virtual void OnBytesInFlight(int64_t /*bytes*/, int64_t /*time_ns*/) {}
  // Payload that a TCP receiver hands to its application, in order.
  virtual void OnDelivered(int64_t /*bytes*/, int64_t /*time_ns*/) {}
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_PACKET_H_
