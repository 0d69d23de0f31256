// Cross traffic at a constant rate, without congestion control.
#include <cstdint>
#include <memory>
#include <utility>

#include "core/event.h"
#include "endpoints/flow.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/cbr_spec.h"

namespace weir::sim {
namespace {

class CbrFlow final : private PacketSink {
 public:
  CbrFlow(const CbrSpec& cbr, const Flow& flow)
      : cbr_(cbr), flow_(flow.spec()), link_(flow.data_link), observer_(flow.observer), next_packet_(this) {
    next_packet_.ScheduleAt(flow_.start);
  }

 private:
  // Observers see a packet at its arrival time.
  bool needs_event() const override { return true; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override { observer_->OnReceived(packet, arrival_time); }
  void OnDropped(const Packet& packet) override { observer_->OnDropped(packet); }

  void SendNext() {
    const SimTime now = Now();
    if (now >= flow_.stop) return;
    Packet packet;
    packet.size_bytes = static_cast<uint32_t>(cbr_.packet_bytes);
    packet.sink = this;
    packet.sent_time = now;
    packet.extra_delay = flow_.extra_one_way_delay;
    observer_->OnSent(packet);
    link_->Send(std::move(packet));

    // Counts from the start, not from the last packet, so that rounding errors do not add up.
    ++packets_sent_;
    const __int128 nanobits = static_cast<__int128>(packets_sent_) * cbr_.packet_bytes * 8 * 1'000'000'000;
    next_packet_.ScheduleAt(flow_.start + SimDuration::Nanos(static_cast<int64_t>(nanobits / cbr_.rate.bps())));
  }

  const CbrSpec& cbr_;
  const FlowSpec& flow_;
  Link* const link_;
  FlowObserver* const observer_;
  int64_t packets_sent_ = 0;
  MemberEvent<CbrFlow, &CbrFlow::SendNext> next_packet_;
};

}  // namespace

std::shared_ptr<void> CbrSpec::Start(const Flow& flow) const { return std::make_shared<CbrFlow>(*this, flow); }

}  // namespace weir::sim
