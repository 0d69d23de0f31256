#include "weir/custom_controller.h"

#include <cstdio>

#include "exceptions.h"

namespace weir {
namespace {

constexpr TimeDelta kMinInterval = TimeDelta::Millis(5);
constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(10);
// The bounds of the call apply to it.
constexpr double kMaxTargetBps = 1e12;

std::string ShownNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

Error Threw(const internal::CaughtException& caught) { return Error{std::string("it threw: ") + caught.what}; }

class CustomFunctions final : public CustomCode {
 public:
  CustomFunctions(const weir_controller_functions& functions, void* state) : functions_(functions), state_(state) {}
  ~CustomFunctions() override { functions_.destroy(state_); }
  CustomFunctions(const CustomFunctions&) = delete;
  CustomFunctions& operator=(const CustomFunctions&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    return internal::WithoutExceptions([&] { return CheckedTarget(functions_.decide(state_, &interval)); }, Threw);
  }
  TimeDelta interval() const override { return TimeDelta::Micros(functions_.interval_us); }

 private:
  const weir_controller_functions functions_;
  void* const state_;
};

weir_controller_objective ToC(const Objective& objective) {
  return {.throughput = objective.throughput, .latency = objective.latency, .loss = objective.loss};
}

}  // namespace

Result<DataRate> CheckedTarget(double target_bps) {
  // A NaN fails the comparison.
  if (target_bps >= 0 && target_bps <= kMaxTargetBps) return DataRate::BitsPerSecondF(target_bps);
  return Error{"its target is " + ShownNumber(target_bps) + " bit/s; it must be 0 to " + ShownNumber(kMaxTargetBps)};
}

Result<TimeDelta> CheckedInterval(double interval_us) {
  const double min_us = static_cast<double>(kMinInterval.us());
  const double max_us = static_cast<double>(kMaxInterval.us());
  if (interval_us >= min_us && interval_us <= max_us) return TimeDelta::Micros(static_cast<int64_t>(interval_us));
  return Error{"its interval_us is " + ShownNumber(interval_us) + "; it must be " + ShownNumber(min_us) + " to " +
               ShownNumber(max_us)};
}

std::optional<Error> CheckFunctions(const weir_controller_functions* functions) {
  if (!functions) return Error{"its functions are NULL"};
  if (functions->version != WEIR_CONTROLLER_VERSION) {
    return Error{"it was built with version " + std::to_string(functions->version) +
                 " of weir_controller.h; this is version " + std::to_string(WEIR_CONTROLLER_VERSION) +
                 ": build it again"};
  }
  if (!functions->create || !functions->decide || !functions->destroy)
    return Error{"create, decide or destroy of its functions is NULL"};
  const auto interval = CheckedInterval(static_cast<double>(functions->interval_us));
  return interval ? std::nullopt : std::optional(Error{interval.error()});
}

Result<std::unique_ptr<CustomCode>> StartFunctions(const weir_controller_functions& functions,
                                                   const weir_controller_start& start) {
  const auto create = [&]() -> Result<std::unique_ptr<CustomCode>> {
    void* const state = functions.create(&start);
    if (!state) return Error{"create() gives NULL"};
    return std::unique_ptr<CustomCode>(std::make_unique<CustomFunctions>(functions, state));
  };
  return internal::WithoutExceptions(create, Threw);
}

weir_controller_start StartRequest(const TargetRateConstraints& constraints, const Objective& objective,
                                   uint64_t seed) {
  return {.seed = seed,
          .min_bps = constraints.min_rate.bps(),
          .start_bps = constraints.start_rate.bps(),
          .max_bps = constraints.max_rate.bps(),
          .objective = ToC(objective),
          .argument = nullptr};
}

void CustomController::OnArrival(const Arrival& arrival) {
  if (packets_.size() >= kMaxPackets) return;
  const PacketArrival& packet = arrival.packet;
  packets_.push_back({.arrival_time_us = packet.arrival_time.us(),
                      .queueing_delay_us = arrival.queueing_delay.us(),
                      .ssrc = packet.ssrc,
                      .abs_send_time = packet.has_abs_send_time ? static_cast<int32_t>(packet.abs_send_time) : -1,
                      .header_bytes = packet.header_size,
                      .payload_bytes = packet.payload_size,
                      .padding_bytes = packet.padding_size,
                      .lost_change = arrival.lost_change,
                      .sequence_number = packet.sequence_number,
                      .payload_type = packet.payload_type,
                      .kind = static_cast<uint8_t>(packet.kind)});
}

bool CustomController::TakeConstraints(const TargetRateConstraints& constraints, TimeDelta interval) {
  constraints_ = constraints;
  if (timer_.started()) return false;
  target_ = constraints.start_rate;
  timer_.Start(constraints.at_time, interval);
  return true;
}

weir_controller_interval CustomController::Question(const std::vector<weir_controller_packet>& packets,
                                                    Timestamp now) const {
  return {.now_us = now.us(),
          .target_bps = target_.bps(),
          .round_trip_time_us = round_trip_time_us_,
          .objective = ToC(objective_),
          .packets = packets.data(),
          .packet_count = packets.size()};
}

}  // namespace weir
