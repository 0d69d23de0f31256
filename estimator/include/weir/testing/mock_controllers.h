// Controllers for tests of hosts: they record every event and return scripted updates. Memory grows with the events.
#ifndef WEIR_TESTING_MOCK_CONTROLLERS_H_
#define WEIR_TESTING_MOCK_CONTROLLERS_H_

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/network_controller.h"
#include "weir/sender_controller.h"

namespace weir {

// A controller at the receiver, which decides every 100 ms, first 100 ms after the first constraints. A test may derive
// from it to decide at other times.
class MockReceiverController : public ReceiverController {
 public:
  static constexpr TimeDelta kInterval = TimeDelta::Millis(100);

  // The arguments of each event, the oldest first.
  struct Events {
    std::vector<TargetRateConstraints> constraints;
    std::vector<Objective> objectives;
    std::vector<TimeDelta> round_trip_times;
    std::vector<Arrival> arrivals;
    std::vector<DataRate> applied;
  };
  // Returns the target of a decision, counted from 0. A missing target is a fault.
  using Script = std::function<std::optional<DataRate>(int decision)>;

  explicit MockReceiverController(Script script) : script_(std::move(script)) {}
  // Every decision is `target`.
  explicit MockReceiverController(DataRate target)
      : MockReceiverController([target](int) { return std::optional(target); }) {}

  const Events& events() const { return events_; }

  std::string_view name() const override { return "mock"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    events_.constraints.push_back(constraints);
    if (next_timeout_.IsPlusInfinity()) next_timeout_ = constraints.at_time + kInterval;
  }
  void OnObjective(const Objective& objective) override { events_.objectives.push_back(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    events_.round_trip_times.push_back(update.round_trip_time);
  }
  void OnArrival(const Arrival& arrival) override { events_.arrivals.push_back(arrival); }
  void OnTargetApplied(const TargetTransferRate& target) override { events_.applied.push_back(target.target_rate); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    next_timeout_ = now + kInterval;
    return {.target_rate = script_(decisions_++)};
  }
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  const Script script_;
  Events events_;
  int decisions_ = 0;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

// A controller at the sender, which decides once, at the time of the first constraints.
class MockSenderController : public SenderController {
 public:
  // The arguments of each event, the oldest first.
  struct Events {
    std::vector<TargetRateConstraints> constraints;
    std::vector<Objective> objectives;
    std::vector<TimeDelta> round_trip_times;
    std::vector<SentPacket> sent;
    std::vector<TransportPacketsFeedback> feedbacks;
    std::vector<TransportLossReport> loss_reports;
    std::vector<RemoteBitrateReport> remote_bitrates;
  };
  using Script = std::function<SenderControlUpdate(Timestamp now)>;

  explicit MockSenderController(Script script) : script_(std::move(script)) {}

  const Events& events() const { return events_; }

  std::string_view name() const override { return "mock"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    if (events_.constraints.empty()) next_timeout_ = constraints.at_time;
    events_.constraints.push_back(constraints);
  }
  void OnObjective(const Objective& objective) override { events_.objectives.push_back(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    events_.round_trip_times.push_back(update.round_trip_time);
  }
  void OnSentPacket(const SentPacket& packet) override { events_.sent.push_back(packet); }
  void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) override {
    events_.feedbacks.push_back(feedback);
  }
  void OnTransportLossReport(const TransportLossReport& report) override { events_.loss_reports.push_back(report); }
  void OnRemoteBitrateReport(const RemoteBitrateReport& report) override { events_.remote_bitrates.push_back(report); }
  SenderControlUpdate OnTimeout(Timestamp now) override {
    next_timeout_ = Timestamp::PlusInfinity();
    return script_(now);
  }
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  const Script script_;
  Events events_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_TESTING_MOCK_CONTROLLERS_H_
