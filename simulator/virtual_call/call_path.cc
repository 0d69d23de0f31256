#include "virtual_call/call_path.h"

#include <algorithm>
#include <utility>

namespace weir::sim {
namespace {

using webrtc::EmulatedIpPacket;
using webrtc::TimeDelta;

std::span<const uint8_t> DataOf(const EmulatedIpPacket& packet) { return {packet.cdata(), packet.size()}; }

}  // namespace

CallPath::CallPath(const CallPathConfig& config)
    : config_(config), follows_engine_(config.link->spec().queue_discipline != QueueDiscipline::kDropTail) {
  config_.from->router()->SetReceiver(config_.to->GetPeerLocalAddress(), this);
}

void CallPath::OnPacketReceived(EmulatedIpPacket ip_packet) {
  queue_ = webrtc::TaskQueueBase::Current();
  if (uses_link_) {
    Send(std::move(ip_packet));
    return;
  }
  const int64_t delay_ns = config_.link->spec().one_way_delay_ns.At(config_.clock->NowNs()) + config_.extra_delay_ns;
  queue_->PostDelayedHighPrecisionTask(
      [this, ip_packet = std::move(ip_packet)]() mutable { Deliver(std::move(ip_packet)); },
      TimeDelta::Micros(delay_ns / 1000));
}

void CallPath::Send(EmulatedIpPacket ip_packet) {
  config_.clock->StepToNow();
  config_.clock->Guarded([&] {
    Packet packet;
    packet.size_bytes = static_cast<uint32_t>(ip_packet.ip_packet_size());
    packet.sink = this;
    packet.sent_time_ns = NowNs();
    packet.extra_delay_ns = config_.extra_delay_ns;
    packet.rtp.ecn = static_cast<EcnMarking>(ip_packet.ecn);
    config_.observer->OnSent(packet, {ip_packet.data.MutableData(), ip_packet.size()});
    const int64_t number = next_number_++;
    packet.transport_sequence_number = number;
    in_flight_.emplace(number, InFlight{std::move(ip_packet), Packet()});
    config_.link->Send(std::move(packet));
  });
  WakeUpInTime();
}

void CallPath::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  const int64_t host_ns = config_.host_delay_ns ? config_.host_delay_ns(arrival_time_ns) : 0;
  const int64_t number = packet.transport_sequence_number;
  InFlight& in_flight = in_flight_.at(number);
  in_flight.packet = std::move(packet);
  in_flight.arrival_ns = arrival_time_ns;
  arrivals_.push({arrival_time_ns + host_ns, number});
  if (follows_engine_) WakeUpInTime();
}

void CallPath::OnDropped(const Packet& packet) {
  const auto found = in_flight_.find(packet.transport_sequence_number);
  config_.observer->OnDropped(packet, DataOf(found->second.ip_packet));
  in_flight_.erase(found);
}

int64_t CallPath::NextEventNs() const {
  const int64_t arrival_ns = arrivals_.empty() ? kNeverNs : arrivals_.top().time_ns;
  const EventEngine& engine = *EventEngine::Current();
  const bool waits = follows_engine_ && in_flight_.size() > arrivals_.size() && !engine.IsFinished();
  return waits ? std::min(arrival_ns, engine.next_time_ns()) : arrival_ns;
}

void CallPath::WakeUpInTime() {
  const int64_t next_ns = NextEventNs();
  if (next_ns >= wake_up_ns_) return;
  wake_up_ns_ = next_ns;
  const int64_t now_us = config_.clock->ToWebrtcUs(config_.clock->NowNs());
  const TimeDelta wait = TimeDelta::Micros(std::max<int64_t>(0, config_.clock->ToWebrtcUs(next_ns) - now_us));
  queue_->PostDelayedHighPrecisionTask([this] { OnWakeUp(); }, wait);
}

void CallPath::OnWakeUp() {
  wake_up_ns_ = kNeverNs;
  config_.clock->StepToNow();
  if (config_.clock->failed()) return;
  while (!arrivals_.empty() && arrivals_.top().time_ns <= config_.clock->NowNs()) {
    const int64_t number = arrivals_.top().number;
    arrivals_.pop();
    auto node = in_flight_.extract(number);
    InFlight& in_flight = node.mapped();
    config_.clock->Guarded(
        [&] { config_.observer->OnReceived(in_flight.packet, DataOf(in_flight.ip_packet), in_flight.arrival_ns); });
    in_flight.ip_packet.ecn = static_cast<webrtc::EcnMarking>(in_flight.packet.rtp.ecn);
    Deliver(std::move(in_flight.ip_packet));
  }
  WakeUpInTime();
}

void CallPath::Deliver(EmulatedIpPacket ip_packet) const {
  // libwebrtc uses this as the packet's receive time.
  ip_packet.arrival_time = config_.clock->now();
  config_.to->OnPacketReceived(std::move(ip_packet));
}

}  // namespace weir::sim
