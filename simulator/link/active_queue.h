// Active queue management: packets are dropped or marked when they reach the head of the queue.
#ifndef WEIR_SIMULATOR_LINK_ACTIVE_QUEUE_H_
#define WEIR_SIMULATOR_LINK_ACTIVE_QUEUE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "core/event.h"
#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/bottleneck.h"

namespace weir::sim {

struct WaitingPacket {
  Packet packet;
  SimTime enqueue_time = kTimeZero;
};

// A FIFO queue that counts its bytes.
class PacketQueue {
 public:
  void Push(Packet&& packet, SimTime now) {
    bytes_ += packet.size_bytes;
    waiting_.push_back({std::move(packet), now});
  }
  WaitingPacket Take() {
    WaitingPacket head = waiting_.take_front();
    bytes_ -= head.packet.size_bytes;
    return head;
  }
  // How long the first packet has waited; zero for an empty queue.
  SimDuration Wait(SimTime now) const { return empty() ? SimDuration::Zero() : now - waiting_.front().enqueue_time; }

  bool empty() const { return waiting_.empty(); }
  int64_t bytes() const { return bytes_; }
  int64_t packets() const { return static_cast<int64_t>(waiting_.size()); }

 private:
  RingBuffer<WaitingPacket> waiting_;
  int64_t bytes_ = 0;
};

class ActiveQueueBottleneck : public Bottleneck {
 public:
  ActiveQueueBottleneck(const CapacityTrace& capacity, QueueBound bound, BottleneckObserver* observer);

  void Send(Packet&& packet) final;
  int64_t queued_bytes() final { return waiting_bytes() + (transmitting_ ? current_.size_bytes : 0); }
  int64_t queued_packets() final { return waiting_packets() + (transmitting_ ? 1 : 0); }
  SimDuration QueueingDelay() final;
  SimDuration Idle() final { return idle_ + (transmitting_ ? SimDuration::Zero() : Now() - idle_since_); }

 protected:
  // Enqueues a packet, which fits.
  virtual void Enqueue(Packet&& packet, SimTime now) = 0;
  // Returns the packet that leaves now, or nullopt if none waits. May drop packets before it.
  virtual std::optional<Packet> Dequeue(SimTime now) = 0;
  virtual int64_t waiting_bytes() const = 0;
  virtual int64_t waiting_packets() const = 0;

 private:
  void TransmitNext();
  void OnTransmissionEnd();

  bool transmitting_ = false;
  SimTime idle_since_ = kTimeZero;
  SimDuration idle_ = SimDuration::Zero();
  Packet current_;
  SimTime current_end_ = kTimeZero;
  MemberEvent<ActiveQueueBottleneck, &ActiveQueueBottleneck::OnTransmissionEnd> transmission_end_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_ACTIVE_QUEUE_H_
