#include "link/link.h"

#include <utility>

#include "core/event.h"
#include "core/step_limit.h"

namespace weir::sim {

// A packet in flight to a sink that needs an event. Returns to the link after it has fired, for reuse.
class Link::Delivery final : public ns3::EventImpl {
 public:
  explicit Delivery(Link* link) : link_(link) {}

  void Load(Packet&& packet, SimTime arrival) {
    packet_ = std::move(packet);
    arrival_ = arrival;
  }

 private:
  void Notify() override {
    Packet packet = std::move(packet_);
    link_->idle_deliveries_.emplace_back(this);
    PacketSink* sink = packet.sink;
    sink->OnPacket(std::move(packet), arrival_);
  }

  Link* link_;
  Packet packet_;
  SimTime arrival_ = kTimeZero;
};

Link::Link(const LinkSpec& spec, SimDuration duration, uint64_t seed, uint64_t stream)
    : spec_(spec), loss_(spec.loss, RandomStream(seed, stream)), jitter_(spec.jitter, RandomStream(seed, stream + 1)) {
  if (spec_.loss.kind == LossSpec::Kind::kPolicer) policer_.emplace(spec_.loss.rate_bps, spec_.loss.burst_bytes);
  if (!spec_.capacity) return;
  const QueueBound bound{spec_.queue.unit == QueueSpec::Unit::kPackets, QueueLimit(spec_, duration)};
  switch (spec_.queue_discipline) {
    case QueueDiscipline::kDropTail:
      bottleneck_ = MakeDropTailBottleneck(*spec_.capacity, bound, this);
      break;
    case QueueDiscipline::kCodel:
      bottleneck_ = MakeCodelBottleneck(*spec_.capacity, bound, this);
      break;
    case QueueDiscipline::kDualPi2:
      bottleneck_ = MakeDualPi2Bottleneck(*spec_.capacity, bound, this);
      break;
  }
}

Link::~Link() = default;

void Link::Send(Packet&& packet) {
  SpendSteps(1);
  ++counters_.packets_sent;
  counters_.bytes_sent += packet.size_bytes;
  if (down_) {
    Drop(packet, DropCause::kDown, counters_.packets_dropped_while_down);
  } else if (loss_.Loses(SinceStart(Now()))) {
    Drop(packet, DropCause::kChance, counters_.packets_dropped_by_loss);
  } else if (policer_ && !policer_->Conforms(Now(), packet.size_bytes)) {
    Drop(packet, DropCause::kPolicer, counters_.packets_dropped_by_loss);
  } else if (bottleneck_) {
    bottleneck_->Send(std::move(packet));
  } else {
    OnDeparture(std::move(packet), Now());
  }
}

void Link::SetCapacity(const CapacityTrace& capacity) {
  spec_.capacity = capacity;
  if (bottleneck_) bottleneck_->SetCapacity(capacity);
}

void Link::SetDown(bool down) {
  earlier_down_time_ = DownTime();
  down_since_ = Now();
  down_ = down;
}

SimDuration Link::DownTime() const { return down_ ? earlier_down_time_ + (Now() - down_since_) : earlier_down_time_; }

int64_t Link::queued_bytes() const { return bottleneck_ ? bottleneck_->queued_bytes() : 0; }
int64_t Link::queued_packets() const { return bottleneck_ ? bottleneck_->queued_packets() : 0; }
SimDuration Link::QueueingDelay() const { return bottleneck_ ? bottleneck_->QueueingDelay() : SimDuration::Zero(); }

SimDuration Link::Idle() const { return bottleneck_ ? bottleneck_->Idle() : SimDuration::Zero(); }

void Link::OnDeparture(Packet&& packet, SimTime departure) {
  // When the path's delay falls, packets do not overtake those in flight.
  last_path_end_ = std::max(last_path_end_, departure + spec_.one_way_delay.At(SinceStart(departure)));
  packet.path_delay = last_path_end_ - departure + packet.extra_delay;
  // The flow's own delay follows the jitter, which all flows share, so that packets of one flow keep their order
  // regardless of other flows' delays.
  const SimTime arrival = jitter_.Delayed(last_path_end_) + packet.extra_delay;
  PacketSink* sink = packet.sink;
  if (sink->needs_event()) {
    DeliverAt(std::move(packet), arrival);
  } else {
    sink->OnPacket(std::move(packet), arrival);
  }
}

void Link::OnQueueDrop(Packet& packet) { Drop(packet, DropCause::kQueue, counters_.packets_dropped_by_queue); }

void Link::Drop(Packet& packet, DropCause cause, int64_t& counter) {
  ++counter;
  packet.drop_cause = cause;
  counters_.bytes_dropped += packet.size_bytes;
  packet.sink->OnDropped(packet);
}

void Link::DeliverAt(Packet&& packet, SimTime arrival) {
  ns3::Ptr<Delivery> delivery;
  if (idle_deliveries_.empty()) {
    delivery = ns3::Create<Delivery>(this);
  } else {
    delivery = std::move(idle_deliveries_.back());  // NOLINT(performance-move-const-arg): moves in later ns-3
    idle_deliveries_.pop_back();
  }
  delivery->Load(std::move(packet), arrival);
  ScheduleAt(arrival, delivery);
}

}  // namespace weir::sim
