#include <cmath>
#include <utility>

#include "core/event.h"
#include "core/ring_buffer.h"
#include "link/bottleneck.h"

namespace weir::sim {
namespace {

// RFC 8289 section 5, with its names.
constexpr int64_t kTargetNs = 5'000'000;
constexpr int64_t kIntervalNs = 100'000'000;

class CodelBottleneck final : public Bottleneck {
 public:
  CodelBottleneck(const CapacityTrace& capacity, QueueBound bound, BottleneckObserver* observer)
      : Bottleneck(capacity, bound, observer), transmission_end_(this) {}

  void Send(Packet&& packet) override {
    if (!bound_.Admits(queued_packets(), queued_bytes(), packet.size_bytes)) {
      observer_->OnQueueDrop(packet);
      return;
    }
    waiting_bytes_ += packet.size_bytes;
    waiting_.push_back({std::move(packet), NowNs()});
    if (transmitting_) return;
    idle_ns_ += NowNs() - idle_since_ns_;
    TransmitNext();
  }

  int64_t queued_bytes() override { return waiting_bytes_ + (transmitting_ ? current_.size_bytes : 0); }
  int64_t queued_packets() override { return static_cast<int64_t>(waiting_.size()) + (transmitting_ ? 1 : 0); }
  int64_t QueueingDelayNs() override {
    if (!transmitting_) return 0;
    if (current_end_ns_ == kNeverNs) return kNeverNs;
    const auto end_ns = capacity_.TransmissionEnd(current_end_ns_, waiting_bytes_ * 8);
    return end_ns ? *end_ns - NowNs() : kNeverNs;
  }
  int64_t IdleNs() override { return idle_ns_ + (transmitting_ ? 0 : NowNs() - idle_since_ns_); }

 private:
  struct Waiting {
    Packet packet;
    int64_t enqueue_time_ns = 0;
  };
  // The result of one look at the head of the queue; `packet` is empty when the queue is.
  struct DequeueResult {
    std::optional<Packet> packet;
    bool ok_to_drop = false;
  };

  static int64_t ControlLaw(int64_t time_ns, int64_t count) {
    return time_ns + static_cast<int64_t>(static_cast<double>(kIntervalNs) / std::sqrt(static_cast<double>(count)));
  }

  DequeueResult DoDequeue(int64_t now_ns) {
    DequeueResult result;
    if (waiting_.empty()) {
      first_above_time_ns_ = 0;
      return result;
    }
    Waiting head = waiting_.take_front();
    waiting_bytes_ -= head.packet.size_bytes;
    result.packet = std::move(head.packet);
    if (now_ns - head.enqueue_time_ns < kTargetNs || waiting_bytes_ <= kMaxPacketBytes) {
      first_above_time_ns_ = 0;
    } else if (first_above_time_ns_ == 0) {
      first_above_time_ns_ = now_ns + kIntervalNs;
    } else if (now_ns >= first_above_time_ns_) {
      result.ok_to_drop = true;
    }
    return result;
  }

  std::optional<Packet> Dequeue() {
    const int64_t now_ns = NowNs();
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
      // After a short pause, continue near the drop rate that was right before.
      const int64_t delta = count_ - last_count_;
      count_ = delta > 1 && now_ns - drop_next_ns_ < 16 * kIntervalNs ? delta : 1;
      drop_next_ns_ = ControlLaw(now_ns, count_);
      last_count_ = count_;
    }
    return std::move(result.packet);
  }

  void TransmitNext() {
    std::optional<Packet> next = Dequeue();
    transmitting_ = next.has_value();
    idle_since_ns_ = NowNs();
    if (!next) return;
    current_ = std::move(*next);
    current_end_ns_ = capacity_.TransmissionEnd(NowNs(), int64_t{current_.size_bytes} * 8).value_or(kNeverNs);
    if (current_end_ns_ != kNeverNs) transmission_end_.ScheduleAt(current_end_ns_);
  }

  void OnTransmissionEnd() {
    Packet departed = std::move(current_);
    TransmitNext();
    observer_->OnDeparture(std::move(departed), NowNs());
  }

  RingBuffer<Waiting> waiting_;
  int64_t waiting_bytes_ = 0;
  bool transmitting_ = false;
  int64_t idle_since_ns_ = 0;
  int64_t idle_ns_ = 0;
  Packet current_;
  int64_t current_end_ns_ = 0;

  int64_t first_above_time_ns_ = 0;
  int64_t drop_next_ns_ = 0;
  int64_t count_ = 0;
  int64_t last_count_ = 0;
  bool dropping_ = false;

  MemberEvent<CodelBottleneck, &CodelBottleneck::OnTransmissionEnd> transmission_end_;
};

}  // namespace

std::unique_ptr<Bottleneck> MakeCodelBottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                BottleneckObserver* observer) {
  return std::make_unique<CodelBottleneck>(capacity, bound, observer);
}

}  // namespace weir::sim
