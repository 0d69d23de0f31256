#include "controllers/nada_controller.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

// Names and values of RFC 8698, figures 3 and 4; times in ms where they enter formulas.
constexpr double kXref = 10;
constexpr double kKappa = 0.5;
constexpr double kEta = 2;
constexpr double kTau = 500;
constexpr TimeDelta kQeps = TimeDelta::Millis(10);
constexpr double kDfilt = 120;
constexpr double kGammaMax = 0.5;
constexpr double kQbound = 50;
constexpr double kMultiloss = 7;
constexpr double kQth = 50;
constexpr double kLambda = 0.5;
constexpr double kPlrref = 0.01;
constexpr double kDloss = 10;
constexpr double kXmax = 500;
constexpr double kAlpha = 0.1;

}  // namespace

void NadaController::OnArrival(const Arrival& arrival) {
  intervals_.OnArrival(arrival);
  delays_us_[delay_count_++ % kMinimumFilterTaps] = arrival.queueing_delay.us();
  if (arrival.lost_change > 0) OnLoss(arrival.packet.arrival_time);
  ++packets_since_loss_;
}

// Losses within one round-trip time are one event (RFC 5348 section 5.2).
void NadaController::OnLoss(Timestamp arrival_time) {
  if (last_loss_event_.IsFinite() && (arrival_time - last_loss_event_).Abs() < round_trip_time()) return;
  std::copy_backward(loss_intervals_.begin(), loss_intervals_.end() - 1, loss_intervals_.end());
  loss_intervals_[0] = packets_since_loss_;
  loss_interval_count_ = std::min(loss_interval_count_ + 1, kLossIntervals);
  packets_since_loss_ = 0;
  last_loss_event_ = arrival_time;
}

// RFC 5348 section 5.4: the interval still open counts where it raises the mean.
double NadaController::MeanLossInterval() const {
  constexpr std::array<double, kLossIntervals> kWeights{1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2};
  double closed = 0;
  double with_open = static_cast<double>(packets_since_loss_);
  double weights = 0;
  for (size_t i = 0; i < loss_interval_count_; ++i) {
    closed += kWeights[i] * static_cast<double>(loss_intervals_[i]);
    if (i + 1 < loss_interval_count_) with_open += kWeights[i + 1] * static_cast<double>(loss_intervals_[i]);
    weights += kWeights[i];
  }
  return weights > 0 ? std::max(closed, with_open) / weights : 0;
}

double NadaController::QueueingDelayMs() const {
  const size_t taps = std::min(delay_count_, kMinimumFilterTaps);
  if (taps == 0) return 0;
  return static_cast<double>(
             *std::min_element(delays_us_.begin(), delays_us_.begin() + static_cast<std::ptrdiff_t>(taps))) *
         1e-3;
}

// Section 4.2, Eq. 1 and 2. A long queue is discounted while losses are recent: a loss-based flow may hold it there.
double NadaController::CongestionSignalMs() const {
  double delay = QueueingDelayMs();
  const bool recent_loss =
      loss_interval_count_ > 0 && static_cast<double>(packets_since_loss_) <= kMultiloss * MeanLossInterval();
  if (recent_loss && delay >= kQth) delay = kQth * std::exp(-kLambda * (delay - kQth) / kQth);
  const double relative_loss = loss_ratio_ / kPlrref;
  return std::min(delay + kDloss * relative_loss * relative_loss, kXmax);
}

// Section 4.3, Eq. 3 and 4.
DataRate NadaController::RampedUp(DataRate receive_rate) const {
  const double rtt_ms = static_cast<double>(round_trip_time().us()) * 1e-3;
  const double gamma = std::min(kGammaMax, kQbound / (rtt_ms + static_cast<double>(kDelta.ms()) + kDfilt));
  return std::max(target(), receive_rate * (1 + gamma));
}

// Section 4.3, Eq. 5 to 7.
DataRate NadaController::UpdatedGradually(double congestion_signal_ms, double delta_ms) const {
  const double offset = congestion_signal_ms - options_.priority * kXref * (options_.reference_max_rate / target());
  const double difference = congestion_signal_ms - previous_congestion_signal_ms_;
  const double change = kKappa * (delta_ms / kTau) * (offset / kTau) + kKappa * kEta * (difference / kTau);
  return target() * (1 - change);
}

DataRate NadaController::Decide(Timestamp, TimeDelta elapsed) {
  const IntervalSums window = intervals_.End(elapsed).all;
  const auto lost = static_cast<double>(std::max<int64_t>(window.lost, 0));
  const double expected = lost + static_cast<double>(window.packets);
  const double loss_ratio = expected > 0 ? lost / expected : 0;
  loss_ratio_ = kAlpha * loss_ratio + (1 - kAlpha) * loss_ratio_;
  const double congestion_signal_ms = CongestionSignalMs();
  const DataRate rate =
      loss_ratio <= 0 && window.max_queueing_delay < kQeps
          ? RampedUp(window.ReceiveRate())
          : UpdatedGradually(congestion_signal_ms, std::min(static_cast<double>(elapsed.us()) * 1e-3, kTau));
  previous_congestion_signal_ms_ = congestion_signal_ms;
  return rate;
}

}  // namespace weir
