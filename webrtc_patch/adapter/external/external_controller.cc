#include "external_controller.h"

#include <algorithm>
#include <utility>

#include "external_controllers.h"

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

ExternalController::ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker,
                                       std::function<void()> on_failure)
    : name_(std::move(name)), maker_(std::move(maker)), on_failure_(std::move(on_failure)) {}

void ExternalController::OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  if (!timer_.started()) {
    target_ = constraints.start_rate;
    timer_.Start(now, maker_->interval());
  }
}

void ExternalController::OnObjective(const Objective& objective) { objective_ = ToC(objective); }

void ExternalController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  round_trip_time_us_ = update.round_trip_time.us();
}

NetworkControlUpdate ExternalController::OnTimeout(Timestamp now) {
  NetworkControlUpdate update;
  if (!failure_.empty() || !timer_.Take(now)) return update;
  const Result<DataRate> target = maker_->Decide({.now_us = now.us(),
                                                  .target_bps = target_.bps(),
                                                  .round_trip_time_us = round_trip_time_us_,
                                                  .objective = objective_,
                                                  .packets = packets_.data(),
                                                  .packet_count = packets_.size()});
  packets_.clear();
  if (!target) {
    failure_ = AboutController(name_, target.error());
    on_failure_();
    return update;
  }
  update.target_rate =
      TargetTransferRate{now, std::clamp(target.value(), constraints_.min_rate, constraints_.max_rate)};
  return update;
}

}  // namespace weir::external
