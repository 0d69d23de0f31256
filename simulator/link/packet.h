// A packet on a link of the simulator: an IP packet, reduced to what its sender, the link and its receiver need.
#ifndef WEIR_SIMULATOR_LINK_PACKET_H_
#define WEIR_SIMULATOR_LINK_PACKET_H_

#include <ns3/packet.h>
#include <ns3/ptr.h>

#include <cstdint>
#include <memory>

#include "core/sim_time.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir::sim {

class PacketSink;

// IPv4 and UDP headers, which count on a link in addition to an RTP or RTCP packet.
inline constexpr uint32_t kUdpIpOverheadBytes = 28;

// RTCP in flight. Immutable once sent.
struct RtcpMessage {
  virtual ~RtcpMessage() = default;
};

// For video packets and their retransmissions: fields of the payload descriptor.
struct FramePart {
  bool key_frame = false;
  bool first = false;
  bool last = false;
};

// For a ULPFEC packet, whose kind is video. Its group has `packets` packets from its media sequence number on, of which
// it protects every `count`-th, beginning at `index`.
struct FecPart {
  uint8_t packets = 0;
  uint8_t index = 0;
  uint8_t count = 0;
};

// Why a link drops a packet: random loss, a policer, a queue (because it is full, or by its discipline), or an outage.
enum class DropCause : uint8_t { kChance, kPolicer, kQueue, kDown };

struct Packet {
  // Size of the whole IP packet.
  uint32_t size_bytes = 0;
  // Receives the packet at the other end, or its drop. Must outlive the simulation's last event.
  PacketSink* sink = nullptr;
  // When the sender passed it to the link, in simulated time.
  SimTime sent_time = kTimeZero;
  // When its media was captured, by an exact clock. All packets of a frame have the same time.
  SimTime capture_time = kTimeZero;
  // Delay of this flow's own access path, added to the link's propagation delay.
  SimDuration extra_delay = SimDuration::Zero();
  // The delay of the path itself, without queues and jitter; filled in by the link.
  SimDuration path_delay = SimDuration::Zero();
  // For a dropped packet; filled in by the link.
  DropCause drop_cause = DropCause::kChance;

  // RTP. `rtp.arrival_time` is filled in by the receiver.
  PacketArrival rtp;
  int64_t transport_sequence_number = 0;
  // Unwrapped number in the media's stream, FEC not counted. A retransmission has the original's (OSN, RFC 4588 section
  // 4), FEC that of the first packet of its group.
  int64_t media_sequence_number = 0;
  FramePart frame_part;
  FecPart fec;

  // True for original video, false for its retransmissions and FEC.
  bool is_original_video() const { return rtp.kind == PacketKind::kVideo && fec.packets == 0; }

  // Exactly one of these is set if the packet is not RTP.
  std::shared_ptr<const RtcpMessage> rtcp;
  ns3::Ptr<ns3::Packet> ip_packet;
};

// The receiving end of a flow.
class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // True if OnPacket must be an event at the arrival time (TCP, RTCP). False if it may be called as soon as that time
  // is known, even before Link::Send returns; the time is then in the future. RTP receivers act only on their own
  // timers, which saves an event per packet.
  virtual bool needs_event() const = 0;
  // `arrival_time` is the time of arrival at the receiver. With needs_event() false, calls come in the order of
  // departure from the bottleneck; with reordering jitter, later calls may have earlier arrival times.
  virtual void OnPacket(Packet&& packet, SimTime arrival_time) = 0;
  // The link has dropped the packet, for any cause.
  virtual void OnDropped(const Packet& packet) = 0;
};

// Observes a flow: the recorder of `run`, the step statistics of `serve`. Sizes are those of whole IP packets. The
// defaults ignore the event.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;

  virtual void OnSent(const Packet&) {}
  // Invoked in the order of arrival; for RTP it may be some time after `arrival_time`, never before it.
  virtual void OnReceived(const Packet&, SimTime /*arrival_time*/) {}
  virtual void OnDropped(const Packet&) {}
  // FEC has recovered a dropped packet.
  virtual void OnRecovered(const Packet&, SimTime /*time*/) {}
  virtual void OnTargetRate(DataRate, SimTime /*time*/) {}
  // REMB or transport feedback; not called for other RTCP.
  virtual void OnFeedbackSent(SimTime /*time*/) {}
  // The same feedback at the sender; not called for lost feedback.
  virtual void OnFeedbackReceived(SimTime /*sent_time*/, SimTime /*time*/) {}
  // The rate of a REMB when it is sent.
  virtual void OnRembSent(DataRate, SimTime /*time*/) {}
  // Payload that a TCP sender has sent and that is neither acknowledged nor lost. Called when it changes.
  virtual void OnBytesInFlight(int64_t /*bytes*/, SimTime /*time*/) {}
  // Payload that a TCP receiver delivers to its application, in order.
  virtual void OnDelivered(int64_t /*bytes*/, SimTime /*time*/) {}
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_PACKET_H_
