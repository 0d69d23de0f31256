// Sends real packets of a TUN device or a packet socket over a Link of the simulator.
#ifndef WEIR_SIMULATOR_REAL_TIME_TUN_H_
#define WEIR_SIMULATOR_REAL_TIME_TUN_H_

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sim_time.h"
#include "link/link.h"
#include "link/packet.h"

namespace weir::sim {

struct TunFlowStatistics {
  // Packets delivered, and their bytes.
  int64_t packets = 0;
  int64_t bytes = 0;
  // Delivered with the ECN field CE.
  int64_t ce_packets = 0;
  // Dropped by the queue, the policer or the loss model.
  int64_t dropped_packets = 0;
  int64_t dropped_while_down_packets = 0;
  // Not IPv4, larger than the MTU, beyond the limit of memory, or not accepted by the other device.
  int64_t refused_packets = 0;
  // Packets delivered more than TunFlow::kLate away from the link's delivery time.
  int64_t late_packets = 0;
  // For each delivered packet: the time from one device to the other, and its excess over the link's delay. At most
  // TunFlow::kMaxSamples.
  std::vector<SimDuration> delays;
  std::vector<SimDuration> delay_errors;
};

class TunFlow final : private PacketSink {
 public:
  static constexpr SimDuration kLate = SimDuration::Millis(2);
  static constexpr size_t kMaxSamples = 1 << 16;
  // Limit of bytes in flight. Without it, a scenario could request a queue of any size.
  static constexpr int64_t kMaxBytesOnTheWay = int64_t{64} << 20;

  // `output_fd`: a TUN device, or a packet socket (SOCK_DGRAM) bound to one device of a veth pair, both of which have
  // the same link-layer address. `clock` returns the time in ns, independently of the simulator's time. The link must
  // outlive this object, and this object the simulation's last event.
  TunFlow(Link* link, int output_fd, SimDuration extra_delay, int64_t (*clock)());

  // Sends a packet at Simulator::Now() that was read from the input device at `read_ns`.
  void Send(std::span<const uint8_t> ip_packet, int64_t read_ns);
  // Counts a packet that was not passed to Send because too many were waiting. May be called from any thread.
  void CountRefused() { ++refused_elsewhere_; }

  // Returns the statistics since the last call.
  TunFlowStatistics TakeStatistics();

 private:
  bool needs_event() const override { return true; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;
  bool Deliver(std::span<const uint8_t> ip_packet) const;

  Link* const link_;
  const int output_fd_;
  // The destination address of a packet socket: its own device's, which is also the other device's.
  sockaddr_ll peer_{};
  bool is_packet_socket_ = false;
  const SimDuration extra_delay_;
  int64_t (*const clock_)();
  int64_t bytes_on_the_way_ = 0;
  TunFlowStatistics statistics_;
  std::atomic<int64_t> refused_elsewhere_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_TUN_H_
