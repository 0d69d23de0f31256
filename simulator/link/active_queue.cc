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
  Enqueue(std::move(packet), NowNs());
  if (transmitting_) return;
  idle_ns_ += NowNs() - idle_since_ns_;
  TransmitNext();
}

int64_t ActiveQueueBottleneck::QueueingDelayNs() {
  if (!transmitting_) return 0;
  if (current_end_ns_ == kNeverNs) return kNeverNs;
  const auto end_ns = capacity_.TransmissionEnd(current_end_ns_, waiting_bytes() * 8);
  return end_ns ? *end_ns - NowNs() : kNeverNs;
}

void ActiveQueueBottleneck::TransmitNext() {
  std::optional<Packet> next = Dequeue(NowNs());
  transmitting_ = next.has_value();
  idle_since_ns_ = NowNs();
  if (!next) return;
  current_ = std::move(*next);
  current_end_ns_ = capacity_.TransmissionEnd(NowNs(), int64_t{current_.size_bytes} * 8).value_or(kNeverNs);
  if (current_end_ns_ != kNeverNs) transmission_end_.ScheduleAt(current_end_ns_);
}

void ActiveQueueBottleneck::OnTransmissionEnd() {
  Packet departed = std::move(current_);
  TransmitNext();
  observer_->OnDeparture(std::move(departed), NowNs());
}

}  // namespace weir::sim
