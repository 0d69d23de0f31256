#include "program/hosted_controller.h"

#include <utility>

namespace weir::external {

weir_controller_packet ToC(const Arrival& arrival) {
  const PacketArrival& packet = arrival.packet;
  return {.arrival_time_us = packet.arrival_time.us(),
          .queueing_delay_us = arrival.queueing_delay.us(),
          .ssrc = packet.ssrc,
          .abs_send_time = packet.has_abs_send_time ? static_cast<int32_t>(packet.abs_send_time) : -1,
          .header_bytes = packet.header_size,
          .payload_bytes = packet.payload_size,
          .padding_bytes = packet.padding_size,
          .lost_change = arrival.lost_change,
          .sequence_number = packet.sequence_number,
          .payload_type = packet.payload_type,
          .kind = static_cast<uint8_t>(packet.kind)};
}

weir_controller_objective ToC(const Objective& objective) {
  return {.throughput = objective.throughput, .latency = objective.latency, .loss = objective.loss};
}

bool HostedController::TakeConstraints(const TargetRateConstraints& constraints, TimeDelta interval) {
  constraints_ = constraints;
  if (timer_.started()) return false;
  target_ = constraints.start_rate;
  timer_.Start(constraints.at_time, interval);
  return true;
}

weir_controller_interval HostedController::Question(const std::vector<weir_controller_packet>& packets,
                                                    Timestamp now) const {
  return {.now_us = now.us(),
          .target_bps = target_.bps(),
          .round_trip_time_us = round_trip_time_us_,
          .objective = ToC(objective_),
          .packets = packets.data(),
          .packet_count = packets.size()};
}

ExternalController::ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker,
                                       std::function<void()> on_failure)
    : HostedController(std::move(name)), maker_(std::move(maker)), on_failure_(std::move(on_failure)) {}

ReceiverControlUpdate ExternalController::OnTimeout(Timestamp now) {
  if (!failure_.empty() || !timer_.Take(now)) return {};
  const Result<DataRate> target = maker_->Decide(Question(packets_, now));
  packets_.clear();
  if (target) return Bounded(target.value());
  failure_ = AboutController(std::string(name()), target.error());
  on_failure_();
  return {};
}

}  // namespace weir::external
