#include <algorithm>
#include <utility>

#include "core/event.h"
#include "core/ring_buffer.h"
#include "link/bottleneck.h"

namespace weir::sim {
namespace {

// A packet's departure from a FIFO queue with a known future capacity is certain when the packet enters. So this queue
// needs no events; it keeps future departures to compute its own length.
class DropTailBottleneck final : public Bottleneck {
 public:
  using Bottleneck::Bottleneck;

  void Send(Packet&& packet) override {
    const SimTime now = Now();
    ForgetDeparted(now);
    if (!bound_.Admits(static_cast<int64_t>(queue_.size()), queued_bytes_, packet.size_bytes)) {
      observer_->OnQueueDrop(packet);
      return;
    }
    if (last_departure_ != kNever) {
      idle_ += NotNegative(now - last_departure_);
      last_departure_ =
          capacity_.TransmissionEnd(std::max(now, last_departure_), int64_t{packet.size_bytes} * 8).value_or(kNever);
    }
    queue_.push_back({last_departure_, packet.size_bytes});
    queued_bytes_ += packet.size_bytes;
    if (last_departure_ != kNever) observer_->OnDeparture(std::move(packet), last_departure_);
  }

  int64_t queued_bytes() override {
    ForgetDeparted(Now());
    return queued_bytes_;
  }
  int64_t queued_packets() override {
    ForgetDeparted(Now());
    return static_cast<int64_t>(queue_.size());
  }
  SimDuration QueueingDelay() override {
    return last_departure_ == kNever ? kForever : NotNegative(last_departure_ - Now());
  }
  SimDuration Idle() override { return idle_ + NotNegative(Now() - last_departure_); }

 private:
  struct Queued {
    SimTime departure = kTimeZero;
    uint32_t size_bytes = 0;
  };

  void ForgetDeparted(SimTime now) {
    while (!queue_.empty() && queue_.front().departure <= now) {
      queued_bytes_ -= queue_.front().size_bytes;
      queue_.pop_front();
    }
  }

  RingBuffer<Queued> queue_;
  int64_t queued_bytes_ = 0;
  SimTime last_departure_ = kTimeZero;
  // Idle time before the last packet's arrival.
  SimDuration idle_ = SimDuration::Zero();
};

}  // namespace

std::unique_ptr<Bottleneck> MakeDropTailBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                   BottleneckObserver* observer) {
  return std::make_unique<DropTailBottleneck>(capacity, bound, observer);
}

}  // namespace weir::sim
