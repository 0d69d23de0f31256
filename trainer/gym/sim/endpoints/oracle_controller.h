// The upper bound among controllers: it knows the capacity of the path and the state of its queue, which no real one
// can.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_ORACLE_CONTROLLER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_ORACLE_CONTROLLER_H_

#include <cstdint>
#include <utility>

#include "link/oracle_rate.h"
#include "weir/network_controller.h"

namespace weir::sim {

// Every 50 ms asks for 96 % of what the link carries (and its policer lets through) in the next 50 ms, less what is
// queued beyond the packet in transmission; it knows no more of the future, but where the link serves nothing for a
// while of the next 100 ms: then it lets media wait for the slot that follows. It may ask for nothing at all: the
// constraints' lower bound does not bind it. Among other flows it takes its share and lets the queue be.
class OracleController final : public SenderController {
 public:
  explicit OracleController(OracleConfig config) : config_(std::move(config)) {}

  std::string_view name() const override { return "oracle"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnSentPacket(const SentPacket&) override {}
  void OnTransportPacketsFeedback(const TransportPacketsFeedback&) override {}
  void OnTransportLossReport(const TransportLossReport&) override {}
  void OnRemoteBitrateReport(const RemoteBitrateReport&) override {}
  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  DataRate Carried(int64_t now_ns) const;
  // In bit/s, so that the queue is gone at the end of the horizon; below 0 where that cannot be.
  double CarriedWithin(int64_t now_ns, int64_t horizon_ns) const;

  const OracleConfig config_;
  TargetRateConstraints constraints_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_ORACLE_CONTROLLER_H_
