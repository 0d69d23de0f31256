#include "flows/cbr_flow.h"

#include <utility>
#include <variant>

namespace weir::sim {

CbrFlow::CbrFlow(const FlowSpec& spec, Link* link, FlowObserver* observer)
    : spec_(spec), cbr_(std::get<CbrSpec>(spec.kind)), link_(link), observer_(observer), next_packet_(this) {
  next_packet_.ScheduleAt(spec_.start_ns);
}

void CbrFlow::SendNext() {
  const int64_t now_ns = NowNs();
  if (now_ns >= spec_.stop_ns) return;
  Packet packet;
  packet.size_bytes = cbr_.packet_bytes;
  packet.sink = this;
  packet.sent_time_ns = now_ns;
  packet.extra_delay_ns = spec_.extra_one_way_delay_ns;
  if (observer_) observer_->OnSent(packet);
  link_->Send(std::move(packet));

  // From the start, not from the last packet: rounding must not add up.
  ++packets_sent_;
  const __int128 nanobits = static_cast<__int128>(packets_sent_) * cbr_.packet_bytes * 8 * 1'000'000'000;
  next_packet_.ScheduleAt(spec_.start_ns + static_cast<int64_t>(nanobits / cbr_.rate.bps()));
}

void CbrFlow::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  if (observer_) observer_->OnReceived(packet, arrival_time_ns);
}

void CbrFlow::OnDropped(const Packet& packet) {
  if (observer_) observer_->OnDropped(packet);
}

}  // namespace weir::sim
