#include "virtual_call/call_path.h"

#include <algorithm>
#include <utility>

namespace weir::sim {
namespace {

using webrtc::EmulatedIpPacket;

std::span<const uint8_t> DataOf(const EmulatedIpPacket& packet) { return {packet.cdata(), packet.size()}; }

}  // namespace

CallPath::CallPath(const CallPathConfig& config)
    : config_(config), follows_engine_(config.link->spec().queue_discipline != QueueDiscipline::kDropTail) {
  config_.from->router()->SetReceiver(config_.to->GetPeerLocalAddress(), this);
}

void CallPath::OnPacketReceived(EmulatedIpPacket ip_packet) {
  if (stopped_) return;
  queue_ = webrtc::TaskQueueBase::Current();
  if (uses_link_) {
    Send(std::move(ip_packet));
    return;
  }
  const SimDuration delay = config_.link->spec().one_way_delay.At(config_.clock->SimNow()) + config_.extra_delay;
  queue_->PostDelayedHighPrecisionTask(
      [this, ip_packet = std::move(ip_packet)]() mutable { Deliver(std::move(ip_packet)); },
      webrtc::TimeDelta::Micros(delay.us()));
}

void CallPath::Send(EmulatedIpPacket ip_packet) {
  config_.clock->StepToNow();
  config_.clock->Guarded([&] {
    Packet packet;
    packet.size_bytes = static_cast<uint32_t>(ip_packet.ip_packet_size());
    packet.sink = this;
    packet.sent_time = Now();
    packet.extra_delay = config_.extra_delay;
    packet.rtp.ecn = static_cast<EcnMarking>(ip_packet.ecn);
    config_.observer->OnSent(packet, {ip_packet.data.MutableData(), ip_packet.size()});
    const int64_t number = next_number_++;
    packet.transport_sequence_number = number;
    in_flight_.emplace(number, InFlight{std::move(ip_packet), Packet()});
    config_.link->Send(std::move(packet));
  });
  WakeUpInTime();
}

void CallPath::OnPacket(Packet&& packet, SimTime arrival_time) {
  const SimDuration host = config_.host_delay ? config_.host_delay(arrival_time) : SimDuration::Zero();
  const int64_t number = packet.transport_sequence_number;
  InFlight& in_flight = in_flight_.at(number);
  in_flight.packet = std::move(packet);
  in_flight.arrival_time = arrival_time;
  arrivals_.push({arrival_time + host, number});
  if (follows_engine_) WakeUpInTime();
}

void CallPath::OnDropped(const Packet& packet) {
  const auto found = in_flight_.find(packet.transport_sequence_number);
  config_.observer->OnDropped(packet, DataOf(found->second.ip_packet));
  in_flight_.erase(found);
}

SimTime CallPath::NextEvent() const {
  const SimTime arrival = arrivals_.empty() ? kNever : arrivals_.top().time;
  const EventEngine& engine = *EventEngine::Current();
  const bool waits = follows_engine_ && in_flight_.size() > arrivals_.size() && !engine.IsFinished();
  return waits ? std::min(arrival, engine.next_time()) : arrival;
}

void CallPath::WakeUpInTime() {
  const SimTime next = NextEvent();
  if (next >= wake_up_time_) return;
  wake_up_time_ = next;
  const int64_t now_us = config_.clock->ToWebrtcUs(config_.clock->SimNow());
  const webrtc::TimeDelta wait =
      webrtc::TimeDelta::Micros(std::max<int64_t>(0, config_.clock->ToWebrtcUs(next) - now_us));
  queue_->PostDelayedHighPrecisionTask([this] { OnWakeUp(); }, wait);
}

void CallPath::OnWakeUp() {
  wake_up_time_ = kNever;
  if (stopped_) return;
  config_.clock->StepToNow();
  if (config_.clock->failed()) return;
  while (!arrivals_.empty() && arrivals_.top().time <= config_.clock->SimNow()) {
    const int64_t number = arrivals_.top().number;
    arrivals_.pop();
    auto node = in_flight_.extract(number);
    InFlight& in_flight = node.mapped();
    config_.clock->Guarded(
        [&] { config_.observer->OnReceived(in_flight.packet, DataOf(in_flight.ip_packet), in_flight.arrival_time); });
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
