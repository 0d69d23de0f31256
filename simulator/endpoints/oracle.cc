#include "endpoints/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "endpoints/achievable.h"
#include "weir/interval_controller.h"

namespace weir::sim {
namespace {

// The interval at which transport feedback reaches the other senders.
constexpr TimeDelta kInterval = TimeDelta::Millis(50);
constexpr SimDuration kSimInterval = SimDuration::Micros(kInterval.us());
// A target takes effect later by REMB than at the sender; 50 and 100 ms score less.
constexpr SimDuration kReceiverDrain = SimDuration::Millis(200);
// How far, and in what steps, the oracle looks ahead if the path serves in slots.
constexpr SimDuration kLongestSlot = AchievableThroughput::kLongestWait;
constexpr SimDuration kStep = SimDuration::Millis(10);
// One packet in transmission and one that has just arrived are not a queue.
constexpr int64_t kToleratedBytes = 2 * kMaxPacketBytes;
constexpr double kUnlimitedBps = std::numeric_limits<double>::infinity();

double ThroughputShare(const Objective& objective) {
  return static_cast<double>(objective.throughput) / (static_cast<double>(objective.throughput) + objective.latency);
}

OracleAim Between(const OracleAim& low, const OracleAim& high, double share) {
  return {std::lerp(low.utilisation, high.utilisation, share),
          SimDuration::Nanos(std::llround(
              std::lerp(static_cast<double>(low.drain_time.ns()), static_cast<double>(high.drain_time.ns()), share)))};
}

// The aim with `balanced_drain` in place of the drain time of `balanced`, and in proportion under other objectives.
OracleAim DrainedIn(SimDuration balanced_drain, const OracleAim& aim) {
  const double ratio = static_cast<double>(aim.drain_time.ns()) / static_cast<double>(OracleAim().drain_time.ns());
  return {aim.utilisation, SimDuration::Nanos(std::llround(static_cast<double>(balanced_drain.ns()) * ratio))};
}

bool ServesInSlots(const CapacityTrace& capacity, SimTime now) {
  bool stops = false;
  capacity.ForEachRate(now, now + kLongestSlot, [&stops](int64_t rate_bps, SimDuration) { stops |= rate_bps == 0; });
  return stops;
}

class OracleController final : public SenderController {
 public:
  OracleController(const OracleConfig& config, const Objective& objective, bool foresight)
      : config_(config), foresight_(foresight), aim_(AimOf(objective)) {}

  std::string_view name() const override { return foresight_ ? "oracle" : "oracle-present"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { aim_ = AimOf(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnSentPacket(const SentPacket&) override {}
  void OnTransportPacketsFeedback(const TransportPacketsFeedback&) override {}
  void OnTransportLossReport(const TransportLossReport&) override {}
  void OnRemoteBitrateReport(const RemoteBitrateReport&) override {}
  SenderControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  DataRate Carried(SimTime now) const;
  // The rate in bit/s that, at `balanced`, drains the queue by the end of the horizon; below 0 if no rate does.
  double CarriedWithin(SimTime now, SimDuration horizon) const;

  const OracleConfig config_;
  const bool foresight_;
  OracleAim aim_;
  TargetRateConstraints constraints_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

void OracleController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  constraints_ = constraints;
  next_timeout_ = constraints.at_time;
}

SenderControlUpdate OracleController::OnTimeout(Timestamp now) {
  next_timeout_ = now + kInterval;
  const DataRate target = std::min(Carried(ToSimTime(now)), constraints_.max_rate);
  SenderControlUpdate update;
  update.target_rate = TargetTransferRate{.at_time = now, .target_rate = target};
  // Paces bursts of media at the rate that the path carries.
  update.pacer_config = PacerConfig{.at_time = now, .pacing_rate = target, .padding_rate = DataRate::Zero()};
  return update;
}

DataRate OracleController::Carried(SimTime now) const {
  const LinkSpec& link = config_.link->spec();
  if (!link.capacity && std::isinf(link.PolicedBps(kUnlimitedBps))) return constraints_.max_rate;
  double target_bps = CarriedWithin(now, kSimInterval);
  if (foresight_ && link.capacity && ServesInSlots(*link.capacity, now)) {
    // The capacity until the next decision alone is no measure: a queue may wait for a slot, which drains it.
    for (SimDuration horizon = kSimInterval + kStep; horizon <= kLongestSlot; horizon += kStep) {
      target_bps = std::max(target_bps, CarriedWithin(now, horizon));
    }
  }
  return DataRate::BitsPerSecondF(std::max(0.0, target_bps));
}

double OracleController::CarriedWithin(SimTime now, SimDuration horizon) const {
  const SimTime from = foresight_ ? now : std::max(now - horizon, kTimeZero);
  return OracleBps(config_, DrainedIn(horizon, aim_), config_.link->queued_bytes(), from, from + horizon);
}

class OracleAtReceiver final : public IntervalController {
 public:
  explicit OracleAtReceiver(const OracleConfig& config) : IntervalController(kInterval), config_(config) {}

  std::string_view name() const override { return "oracle-receiver"; }
  void OnArrival(const Arrival&) override {}
  void OnObjective(const Objective& objective) override { aim_ = AimOf(objective); }

 private:
  DataRate Decide(Timestamp now, TimeDelta) override {
    const SimTime from = std::max(ToSimTime(now) - kSimInterval, kTimeZero);
    return DataRate::BitsPerSecondF(
        OracleBps(config_, DrainedIn(kReceiverDrain, aim_), config_.link->queued_bytes(), from, from + kSimInterval));
  }

  const OracleConfig config_;
  OracleAim aim_;
};

}  // namespace

OracleAim AimOf(const Objective& objective) {
  constexpr OracleAim kLatencyAim{0.85, SimDuration::Millis(30)}, kThroughputAim{1.0, SimDuration::Millis(200)};
  constexpr OracleAim kBalancedAim;
  const double share = ThroughputShare(objective), balanced = ThroughputShare(kBalanced);
  const auto position = [&](double from, double to) { return std::clamp((share - from) / (to - from), 0.0, 1.0); };
  if (share < balanced) return Between(kLatencyAim, kBalancedAim, position(ThroughputShare(kLatency), balanced));
  return Between(kBalancedAim, kThroughputAim, position(balanced, ThroughputShare(kThroughput)));
}

double CrossTrafficBps(const OracleConfig& config, SimTime from, SimTime to) {
  double bits = 0;
  for (const OracleConfig::CrossTraffic& cross : config.cross_traffic) {
    const SimDuration shared = std::min(cross.to, to) - std::max(cross.from, from);
    bits += static_cast<double>(cross.rate_bps) * NotNegative(shared).seconds();
  }
  return bits * 1e9 / static_cast<double>((to - from).ns());
}

double OracleBps(const OracleConfig& config, const OracleAim& aim, int64_t queued_bytes, SimTime from, SimTime to) {
  const LinkSpec& link = config.link->spec();
  const double capacity_bps =
      link.PolicedBps(link.capacity ? static_cast<double>(link.capacity->BitsBetween(from, to)) * 1e9 /
                                          static_cast<double>((to - from).ns())
                                    : kUnlimitedBps);
  const double share_bps = aim.utilisation * (capacity_bps - CrossTrafficBps(config, from, to)) / config.sharing_flows;
  if (config.sharing_flows > 1) return share_bps;
  const int64_t excess_bytes = queued_bytes - kToleratedBytes;
  return share_bps -
         static_cast<double>(std::max<int64_t>(0, excess_bytes)) * 8e9 / static_cast<double>(aim.drain_time.ns());
}

std::unique_ptr<SenderController> MakeOracleController(const OracleConfig& config, const Objective& objective,
                                                       bool foresight) {
  return std::make_unique<OracleController>(config, objective, foresight);
}

std::unique_ptr<ReceiverController> MakeOracleAtReceiver(const OracleConfig& config) {
  return std::make_unique<OracleAtReceiver>(config);
}

}  // namespace weir::sim
