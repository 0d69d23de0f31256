#include <cmath>
#include <utility>

#include "link/active_queue.h"

namespace weir::sim {
namespace {

// RFC 8289 section 5, with its names.
constexpr SimDuration kTarget = SimDuration::Millis(5);
constexpr SimDuration kInterval = SimDuration::Millis(100);

class CodelBottleneck final : public ActiveQueueBottleneck {
 public:
  using ActiveQueueBottleneck::ActiveQueueBottleneck;

 private:
  // The result of one dequeue operation; `packet` is empty if the queue is.
  struct DequeueResult {
    std::optional<Packet> packet;
    bool ok_to_drop = false;
  };

  static SimTime ControlLaw(SimTime time, int64_t count) {
    return time + SimDuration::Nanos(static_cast<int64_t>(static_cast<double>(kInterval.ns()) /
                                                          std::sqrt(static_cast<double>(count))));
  }

  void Enqueue(Packet&& packet, SimTime now) override { queue_.Push(std::move(packet), now); }
  int64_t waiting_bytes() const override { return queue_.bytes(); }
  int64_t waiting_packets() const override { return queue_.packets(); }

  DequeueResult DoDequeue(SimTime now) {
    DequeueResult result;
    if (queue_.empty()) {
      first_above_time_ = kTimeZero;
      return result;
    }
    WaitingPacket head = queue_.Take();
    result.packet = std::move(head.packet);
    if (now - head.enqueue_time < kTarget || queue_.bytes() <= kMaxPacketBytes) {
      first_above_time_ = kTimeZero;
    } else if (first_above_time_ == kTimeZero) {
      first_above_time_ = now + kInterval;
    } else if (now >= first_above_time_) {
      result.ok_to_drop = true;
    }
    return result;
  }

  std::optional<Packet> Dequeue(SimTime now) override {
    DequeueResult result = DoDequeue(now);
    if (!result.packet) {
      dropping_ = false;
      return std::nullopt;
    }
    if (dropping_) {
      if (!result.ok_to_drop) dropping_ = false;
      while (dropping_ && now >= drop_next_) {
        observer_->OnQueueDrop(*result.packet);
        ++count_;
        result = DoDequeue(now);
        if (result.ok_to_drop) {
          drop_next_ = ControlLaw(drop_next_, count_);
        } else {
          dropping_ = false;
        }
      }
    } else if (result.ok_to_drop) {
      observer_->OnQueueDrop(*result.packet);
      result = DoDequeue(now);
      dropping_ = true;
      // After a short pause, continues near the previous drop rate.
      const int64_t delta = count_ - last_count_;
      count_ = delta > 1 && now - drop_next_ < 16 * kInterval ? delta : 1;
      drop_next_ = ControlLaw(now, count_);
      last_count_ = count_;
    }
    return std::move(result.packet);
  }

  PacketQueue queue_;
  SimTime first_above_time_ = kTimeZero;
  SimTime drop_next_ = kTimeZero;
  int64_t count_ = 0;
  int64_t last_count_ = 0;
  bool dropping_ = false;
};

}  // namespace

std::unique_ptr<Bottleneck> MakeCodelBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                BottleneckObserver* observer) {
  return std::make_unique<CodelBottleneck>(capacity, bound, observer);
}

}  // namespace weir::sim
