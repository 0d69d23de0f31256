// Controllers that never limit a sender: the target is always the upper bound of the constraints. For tests of what
// else bounds a rate: the guard, the pacer, the media, the path.
#ifndef WEIR_TESTING_UNLIMITED_CONTROLLERS_H_
#define WEIR_TESTING_UNLIMITED_CONTROLLERS_H_

#include <string_view>

#include "weir/interval_controller.h"
#include "weir/sender_controller.h"

namespace weir {

// At the receiver, every 100 ms.
class UnlimitedReceiverController final : public IntervalController {
 public:
  UnlimitedReceiverController() : IntervalController(TimeDelta::Millis(100)) {}

  std::string_view name() const override { return "unlimited"; }
  void OnArrival(const Arrival&) override {}

 private:
  DataRate Decide(Timestamp, TimeDelta) override { return constraints().max_rate; }
};

// At the sender, whenever the constraints change. The pacer has the same rate and no padding.
class UnlimitedSenderController final : public SenderController {
 public:
  std::string_view name() const override { return "unlimited"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    max_rate_ = constraints.max_rate;
    next_timeout_ = constraints.at_time;
  }
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnSentPacket(const SentPacket&) override {}
  void OnTransportPacketsFeedback(const TransportPacketsFeedback&) override {}
  void OnTransportLossReport(const TransportLossReport&) override {}
  void OnRemoteBitrateReport(const RemoteBitrateReport&) override {}
  SenderControlUpdate OnTimeout(Timestamp now) override {
    next_timeout_ = Timestamp::PlusInfinity();
    SenderControlUpdate update;
    update.target_rate = TargetTransferRate{.at_time = now, .target_rate = max_rate_};
    update.pacer_config = PacerConfig{.at_time = now, .pacing_rate = max_rate_};
    return update;
  }
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  DataRate max_rate_ = DataRate::Zero();
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_TESTING_UNLIMITED_CONTROLLERS_H_
