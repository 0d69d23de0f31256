#include <algorithm>
#include <utility>

#include "link/active_queue.h"

namespace weir::sim {
namespace {

// RFC 9332 appendix A, with its defaults for round trips of up to 100 ms.
constexpr SimDuration kTarget = SimDuration::Millis(15);
constexpr SimDuration kUpdate = SimDuration::Millis(15);
constexpr double kAlphaHz = 0.15;
constexpr double kBetaHz = 3;
constexpr double kCoupling = 2;
// An L4S packet that has waited longer is marked, unless it is the last of its queue.
constexpr SimDuration kStep = SimDuration::Millis(1);
// A classic packet goes first if it has waited this much longer than the L4S packet.
constexpr SimDuration kTimeShift = SimDuration::Millis(50);
// Without a queue, this many updates reduce the probability from 1 to 0.
constexpr int64_t kMostUpdates = 450;

bool IsL4s(const Packet& packet) { return packet.rtp.ecn == EcnMarking::kEct1 || packet.rtp.ecn == EcnMarking::kCe; }

// Returns true with the given likelihood, evenly spread instead of at random.
class Recurrence {
 public:
  bool Take(double likelihood) {
    count_ += likelihood;
    if (count_ < 1) return false;
    count_ -= 1;
    return true;
  }

 private:
  double count_ = 0;
};

class DualPi2Bottleneck final : public ActiveQueueBottleneck {
 public:
  using ActiveQueueBottleneck::ActiveQueueBottleneck;

 private:
  void Enqueue(Packet&& packet, SimTime now) override {
    Update(now);
    (IsL4s(packet) ? l4s_ : classic_).Push(std::move(packet), now);
  }
  int64_t waiting_bytes() const override { return l4s_.bytes() + classic_.bytes(); }
  int64_t waiting_packets() const override { return l4s_.packets() + classic_.packets(); }

  std::optional<Packet> Dequeue(SimTime now) override {
    Update(now);
    while (!l4s_.empty() || !classic_.empty()) {
      const bool is_l4s = !l4s_.empty() && (classic_.empty() || l4s_.Wait(now) + kTimeShift >= classic_.Wait(now));
      WaitingPacket head = (is_l4s ? l4s_ : classic_).Take();
      if (is_l4s ? DropsL4s() : classic_drops_.Take(probability_ * probability_)) {
        observer_->OnQueueDrop(head.packet);
        continue;
      }
      const bool waited = now - head.enqueue_time > kStep && !l4s_.empty();
      if (is_l4s && (marks_.Take(kCoupling * probability_) || waited)) head.packet.rtp.ecn = EcnMarking::kCe;
      return std::move(head.packet);
    }
    return std::nullopt;
  }

  // L4S packets are dropped only once all are marked: marks alone do not help against flows that ignore them.
  bool DropsL4s() { return kCoupling * probability_ >= 1 && l4s_drops_.Take(probability_ * probability_); }

  // Makes the updates of the PI controller that are due. Called when a packet arrives or leaves.
  void Update(SimTime now) {
    const int64_t updates = (now - updated_).ns() / kUpdate.ns();
    for (int64_t i = 0; i < std::min(updates, kMostUpdates); ++i) {
      const SimDuration wait = classic_.Wait(now);
      probability_ += kAlphaHz * (wait - kTarget).seconds() + kBetaHz * (wait - latest_wait_).seconds();
      probability_ = std::clamp(probability_, 0.0, 1 / kCoupling);
      latest_wait_ = wait;
    }
    updated_ += updates * kUpdate;
  }

  PacketQueue l4s_;
  PacketQueue classic_;
  // p'. Classic packets are dropped with a probability of its square, L4S packets marked with kCoupling times it.
  double probability_ = 0;
  SimDuration latest_wait_ = SimDuration::Zero();
  SimTime updated_ = kTimeZero;
  Recurrence classic_drops_;
  Recurrence l4s_drops_;
  Recurrence marks_;
};

}  // namespace

std::unique_ptr<Bottleneck> MakeDualPi2Bottleneck(const CapacityTrace& capacity, QueueBound bound,
                                                  BottleneckObserver* observer) {
  return std::make_unique<DualPi2Bottleneck>(capacity, bound, observer);
}

}  // namespace weir::sim
