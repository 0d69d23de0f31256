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
    const int64_t now_ns = NowNs();
    ForgetDeparted(now_ns);
    if (!bound_.Admits(static_cast<int64_t>(queue_.size()), queued_bytes_, packet.size_bytes)) {
      observer_->OnQueueDrop(packet);
      return;
    }
    if (last_departure_ns_ != kNeverNs) {
      idle_ns_ += std::max<int64_t>(now_ns - last_departure_ns_, 0);
      last_departure_ns_ =
          capacity_.TransmissionEnd(std::max(now_ns, last_departure_ns_), int64_t{packet.size_bytes} * 8)
              .value_or(kNeverNs);
    }
    queue_.push_back({last_departure_ns_, packet.size_bytes});
    queued_bytes_ += packet.size_bytes;
    if (last_departure_ns_ != kNeverNs) observer_->OnDeparture(std::move(packet), last_departure_ns_);
  }

  int64_t queued_bytes() override {
    ForgetDeparted(NowNs());
    return queued_bytes_;
  }
  int64_t queued_packets() override {
    ForgetDeparted(NowNs());
    return static_cast<int64_t>(queue_.size());
  }
  int64_t QueueingDelayNs() override {
    return last_departure_ns_ == kNeverNs ? kNeverNs : std::max<int64_t>(last_departure_ns_ - NowNs(), 0);
  }
  int64_t IdleNs() override { return idle_ns_ + std::max<int64_t>(NowNs() - last_departure_ns_, 0); }

 private:
  struct Queued {
    int64_t departure_ns = 0;
    uint32_t size_bytes = 0;
  };

  void ForgetDeparted(int64_t now_ns) {
    while (!queue_.empty() && queue_.front().departure_ns <= now_ns) {
      queued_bytes_ -= queue_.front().size_bytes;
      queue_.pop_front();
    }
  }

  RingBuffer<Queued> queue_;
  int64_t queued_bytes_ = 0;
  int64_t last_departure_ns_ = 0;
  // Idle time before the last packet's arrival.
  int64_t idle_ns_ = 0;
};

}  // namespace

std::unique_ptr<Bottleneck> MakeDropTailBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                   BottleneckObserver* observer) {
  return std::make_unique<DropTailBottleneck>(capacity, bound, observer);
}

}  // namespace weir::sim
