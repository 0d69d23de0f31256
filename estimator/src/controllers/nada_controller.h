// NADA (RFC 8698). The sender's half also runs at the receiver: REMB carries the rate that it computes.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_NADA_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_NADA_CONTROLLER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "controllers/recent_intervals.h"
#include "weir/interval_controller.h"

namespace weir {

// Defaults are those of RFC 8698, figure 3.
struct NadaOptions {
  // PRIO: weight of this flow among others.
  double priority = 1.0;
  // RMAX as it scales the reference congestion signal: in equilibrium the congestion signal is PRIO XREF RMAX / r. The
  // bound of the rate itself is the host's `max_rate`.
  DataRate reference_max_rate = DataRate::KilobitsPerSecond(1500);
};

// Every DELTA = 100 ms. ECN marks are not visible to this interface; their penalty is 0.
class NadaController final : public IntervalController {
 public:
  static constexpr TimeDelta kDelta = TimeDelta::Millis(100);

  explicit NadaController(const NadaOptions& options = {}) : IntervalController(kDelta), options_(options) {}

  std::string_view name() const override { return "nada"; }
  void OnArrival(const Arrival& arrival) override;

 private:
  static constexpr size_t kMinimumFilterTaps = 15;
  static constexpr size_t kLossIntervals = 8;

  DataRate Decide(Timestamp now, TimeDelta elapsed) override;
  double QueueingDelayMs() const;
  double CongestionSignalMs() const;
  double MeanLossInterval() const;
  void OnLoss(Timestamp arrival_time);
  DataRate RampedUp(DataRate receive_rate) const;
  DataRate UpdatedGradually(double congestion_signal_ms, double delta_ms) const;

  NadaOptions options_;
  // LOGWIN (500 ms) in steps of DELTA.
  RecentIntervals<5> intervals_;
  // The last queueing delays, for the minimum filter.
  std::array<int64_t, kMinimumFilterTaps> delays_us_{};
  size_t delay_count_ = 0;

  double loss_ratio_ = 0;
  double previous_congestion_signal_ms_ = 0;
  // Packets between loss events (RFC 5348 section 5.3), newest first, and since the last one.
  std::array<int64_t, kLossIntervals> loss_intervals_{};
  size_t loss_interval_count_ = 0;
  int64_t packets_since_loss_ = 0;
  Timestamp last_loss_event_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_NADA_CONTROLLER_H_
