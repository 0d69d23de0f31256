#include <cmath>
#include <utility>

#include "link/active_queue.h"

namespace weir::sim {
namespace {

// RFC 8289 section 5, with its names.
constexpr int64_t kTargetNs = 5'000'000;
constexpr int64_t kIntervalNs = 100'000'000;

class CodelBottleneck final : public ActiveQueueBottleneck {
 public:
  using ActiveQueueBottleneck::ActiveQueueBottleneck;

 private:
  // The result of one dequeue operation; `packet` is empty if the queue is.
  struct DequeueResult {
    std::optional<Packet> packet;
    bool ok_to_drop = false;
  };

  static int64_t ControlLaw(int64_t time_ns, int64_t count) {
    return time_ns + static_cast<int64_t>(static_cast<double>(kIntervalNs) / std::sqrt(static_cast<double>(count)));
  }

  void Enqueue(Packet&& packet, int64_t now_ns) override { queue_.Push(std::move(packet), now_ns); }
  int64_t waiting_bytes() const override { return queue_.bytes(); }
  int64_t waiting_packets() const override { return queue_.packets(); }

  DequeueResult DoDequeue(int64_t now_ns) {
    DequeueResult result;
    if (queue_.empty()) {
      first_above_time_ns_ = 0;
      return result;
    }
    WaitingPacket head = queue_.Take();
    result.packet = std::move(head.packet);
    if (now_ns - head.enqueue_time_ns < kTargetNs || queue_.bytes() <= kMaxPacketBytes) {
      first_above_time_ns_ = 0;
    } else if (first_above_time_ns_ == 0) {
      first_above_time_ns_ = now_ns + kIntervalNs;
    } else if (now_ns >= first_above_time_ns_) {
      result.ok_to_drop = true;
    }
    return result;
  }

  std::optional<Packet> Dequeue(int64_t now_ns) override {
    DequeueResult result = DoDequeue(now_ns);
    if (!result.packet) {
      dropping_ = false;
      return std::nullopt;
    }
    if (dropping_) {
      if (!result.ok_to_drop) dropping_ = false;
      while (dropping_ && now_ns >= drop_next_ns_) {
        observer_->OnQueueDrop(*result.packet);
        ++count_;
        result = DoDequeue(now_ns);
        if (result.ok_to_drop) {
          drop_next_ns_ = ControlLaw(drop_next_ns_, count_);
        } else {
          dropping_ = false;
        }
      }
    } else if (result.ok_to_drop) {
      observer_->OnQueueDrop(*result.packet);
      result = DoDequeue(now_ns);
      dropping_ = true;
      // After a short pause, continues near the previous drop rate.
      const int64_t delta = count_ - last_count_;
      count_ = delta > 1 && now_ns - drop_next_ns_ < 16 * kIntervalNs ? delta : 1;
      drop_next_ns_ = ControlLaw(now_ns, count_);
      last_count_ = count_;
    }
    return std::move(result.packet);
  }

  PacketQueue queue_;
  int64_t first_above_time_ns_ = 0;
  int64_t drop_next_ns_ = 0;
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
