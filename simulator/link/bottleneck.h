// A bounded queue in front of a transmitter whose rate follows a capacity trace. A whole packet counts as queued until
// its last bit has left.
#ifndef WEIR_SIMULATOR_LINK_BOTTLENECK_H_
#define WEIR_SIMULATOR_LINK_BOTTLENECK_H_

#include <cstdint>
#include <memory>

#include "core/event.h"
#include "core/sim_time.h"
#include "link/packet.h"
#include "scenario/scenario.h"

namespace weir::sim {

class BottleneckObserver {
 public:
  virtual ~BottleneckObserver() = default;
  // Called in the order of departure, at `departure` or earlier, as soon as the departure is certain.
  virtual void OnDeparture(Packet&& packet, SimTime departure) = 0;
  virtual void OnQueueDrop(Packet& packet) = 0;
};

// `limit` is in the unit of `queue`.
struct QueueBound {
  bool in_packets = false;
  int64_t limit = 0;
  bool Admits(int64_t queued_packets, int64_t queued_bytes, int64_t size_bytes) const {
    return in_packets ? queued_packets + 1 <= limit : queued_bytes + size_bytes <= limit;
  }
};

class Bottleneck {
 public:
  Bottleneck(const CapacityTrace& capacity, QueueBound bound, BottleneckObserver* observer)
      : capacity_(capacity), bound_(bound), observer_(observer) {}
  virtual ~Bottleneck() = default;
  // Sends at Simulator::Now().
  virtual void Send(Packet&& packet) = 0;
  // Applies from now on, except to departures that are already certain. The bound of the queue does not change.
  void SetCapacity(const CapacityTrace& capacity) { capacity_ = capacity; }
  virtual int64_t queued_bytes() = 0;
  virtual int64_t queued_packets() = 0;
  // Time until the last queued bit has left; kForever if it never does.
  virtual SimDuration QueueingDelay() = 0;
  // Time for which the transmitter has been idle, since time 0.
  virtual SimDuration Idle() = 0;

 protected:
  CapacityTrace capacity_;
  const QueueBound bound_;
  BottleneckObserver* const observer_;
};

// Drops packets that do not fit.
std::unique_ptr<Bottleneck> MakeDropTailBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                   BottleneckObserver* observer);
// CoDel, RFC 8289, with its default target of 5 ms and interval of 100 ms; the bound holds as well.
std::unique_ptr<Bottleneck> MakeCodelBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                BottleneckObserver* observer);

// DualPI2, RFC 9332: a queue that marks ECT(1) packets instead of delaying them, and a classic queue with a target of
// 15 ms; the bound holds for both together.
std::unique_ptr<Bottleneck> MakeDualPi2Bottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                  BottleneckObserver* observer);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_BOTTLENECK_H_
