#include "link/active_queue.h"

namespace weir::sim {

ActiveQueueBottleneck::ActiveQueueBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                             BottleneckObserver* observer)
    : Bottleneck(capacity, bound, observer), transmission_end_(this) {}

void ActiveQueueBottleneck::Send(Packet&& packet) {
  if (!bound_.Admits(queued_packets(), queued_bytes(), packet.size_bytes)) {
    observer_->OnQueueDrop(packet);
    return;
  }
  Enqueue(std::move(packet), Now());
  if (transmitting_) return;
  idle_ += Now() - idle_since_;
  TransmitNext();
}

SimDuration ActiveQueueBottleneck::QueueingDelay() {
  if (!transmitting_) return SimDuration::Zero();
  if (current_end_ == kNever) return kForever;
  const auto end = capacity_.TransmissionEnd(current_end_, waiting_bytes() * 8);
  return end ? *end - Now() : kForever;
}

void ActiveQueueBottleneck::TransmitNext() {
  std::optional<Packet> next = Dequeue(Now());
  transmitting_ = next.has_value();
  idle_since_ = Now();
  if (!next) return;
  current_ = std::move(*next);
  current_end_ = capacity_.TransmissionEnd(Now(), int64_t{current_.size_bytes} * 8).value_or(kNever);
  if (current_end_ != kNever) transmission_end_.ScheduleAt(current_end_);
}

void ActiveQueueBottleneck::OnTransmissionEnd() {
  Packet departed = std::move(current_);
  TransmitNext();
  observer_->OnDeparture(std::move(departed), Now());
}

}  // namespace weir::sim
