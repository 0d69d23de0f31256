// One direction of the path: loss or a policer, then the bottleneck (queue and transmitter), then propagation and
// jitter.
#ifndef WEIR_SIMULATOR_LINK_LINK_H_
#define WEIR_SIMULATOR_LINK_LINK_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "link/bottleneck.h"
#include "link/impairments.h"
#include "link/packet.h"
#include "scenario/scenario.h"

namespace weir::sim {

struct LinkCounters {
  int64_t packets_sent = 0;
  int64_t packets_dropped_by_loss = 0;
  int64_t packets_dropped_by_queue = 0;
  int64_t packets_dropped_while_down = 0;
  // Bytes of all packets sent, and of those that were dropped for any reason.
  int64_t bytes_sent = 0;
  int64_t bytes_dropped = 0;
};

class Link final : private BottleneckObserver {
 public:
  // `duration` is the scenario's, for the mean capacity. Uses the random streams `stream` and `stream + 1` of
  // `seed`.
  Link(const LinkSpec& spec, SimDuration duration, uint64_t seed, uint64_t stream);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Sends at Simulator::Now(). The packet's `sink` receives exactly one call, OnPacket or OnDropped, unless the packet
  // is still in flight at the end. A sink that needs no event is called as soon as the arrival time is known: with a
  // drop-tail queue or without a bottleneck before Send returns, in the order of Send; otherwise when the packet leaves
  // the bottleneck. A sink that needs an event is called at the arrival time.
  void Send(Packet&& packet);

  // Changes the capacity from now on. Departures that are already certain and the queue's bound do not change.
  void SetCapacity(const CapacityTrace& capacity);
  // Sets when the changes of delay and loss begin (0 by default). Before that, their first values hold.
  void SetStart(SimTime start) { start_ = start; }
  // While down, a link drops all packets sent.
  void SetDown(bool down);
  bool down() const { return down_; }
  // Time for which the link has been down, since time 0.
  SimDuration DownTime() const;

  // Bytes and packets that have not completely left the bottleneck.
  int64_t queued_bytes() const;
  int64_t queued_packets() const;
  // Bytes of the packets that have completely left the bottleneck since the beginning.
  int64_t carried_bytes() const { return counters_.bytes_sent - counters_.bytes_dropped - queued_bytes(); }
  // The time until the last queued byte has left, by the trace; kForever if the capacity stays zero.
  SimDuration QueueingDelay() const;
  // Time for which the transmitter has been idle, since time 0; 0 without a bottleneck.
  SimDuration Idle() const;

  const LinkSpec& spec() const { return spec_; }
  const LinkCounters& counters() const { return counters_; }

 private:
  class Delivery;

  void OnDeparture(Packet&& packet, SimTime departure) override;
  void OnQueueDrop(Packet& packet) override;
  void Drop(Packet& packet, DropCause cause, int64_t& counter);
  void DeliverAt(Packet&& packet, SimTime arrival);
  // The time of the scenario.
  SimTime SinceStart(SimTime time) const { return kTimeZero + NotNegative(time - start_); }

  LinkSpec spec_;
  LossModel loss_;
  std::optional<Policer> policer_;
  JitterModel jitter_;
  bool down_ = false;
  SimTime down_since_ = kTimeZero;
  // Without the time since `down_since_`.
  SimDuration earlier_down_time_ = SimDuration::Zero();
  SimTime start_ = kTimeZero;
  // When the last packet reaches the end of the path, before jitter.
  SimTime last_path_end_ = kTimeZero;
  // Null if the capacity is unlimited.
  std::unique_ptr<Bottleneck> bottleneck_;
  LinkCounters counters_;
  // Events for reuse.
  std::vector<ns3::Ptr<Delivery>> idle_deliveries_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_LINK_H_
