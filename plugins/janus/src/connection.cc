#include "connection.h"

#include <algorithm>

namespace weir::janus {
namespace {

// Above every rate of a browser; 0 would not pass Janus, which sends a REMB above 0 only.
constexpr uint32_t kNoLimitBps = 1'000'000'000;

}  // namespace

std::unique_ptr<Connection> Connection::Create(const weir_controller* controller, int64_t max_rate_bps,
                                               const Negotiated& negotiated, bool in_charge) {
  weir_estimator_config config = weir_estimator_default_config();
  config.constraints.max_rate_bps = max_rate_bps;
  weir_estimator* estimator = nullptr;
  if (weir_estimator_create(controller, &config, &estimator) < 0) return nullptr;
  return std::unique_ptr<Connection>(new Connection(estimator, config.constraints, negotiated, in_charge));
}

Connection::Connection(weir_estimator* estimator, const weir_target_rate_constraints& constraints,
                       const Negotiated& negotiated, bool in_charge)
    : estimator_(estimator), constraints_(constraints), negotiated_(negotiated), in_charge_(in_charge) {}

void Connection::OnPacket(std::span<const uint8_t> packet, int64_t now_us) {
  std::optional<weir_packet> read = ReadPacket(packet, negotiated_);
  if (!read) return;
  latest_packet_us_ = now_us;
  read->arrival_time_us = now_us;
  retransmissions_.Mark(&*read);
  weir_estimator_on_packet(estimator_.get(), &*read);
}

void Connection::OnOtherRemb(uint32_t bps, int64_t now_us) {
  other_remb_bps_ = bps == 0 ? std::nullopt : std::optional(bps);
  weir_target_rate_constraints bounded = constraints_;
  if (other_remb_bps_)
    bounded.max_rate_bps = std::clamp<int64_t>(bps, constraints_.min_rate_bps, constraints_.max_rate_bps);
  weir_estimator_set_constraints(estimator_.get(), &bounded, now_us);
}

Feedback Connection::Limit(int64_t target_bps) const {
  Feedback feedback;
  feedback.remb_bps = static_cast<uint32_t>(std::clamp<int64_t>(target_bps, 1, kNoLimitBps));
  if (negotiated_.transport_cc)
    weir_write_remote_estimate(WEIR_REMOTE_ESTIMATE_LOWER_BPS, feedback.remote_estimate.emplace().data());
  return feedback;
}

Feedback Connection::LiftLimits() const {
  Feedback feedback;
  feedback.remb_bps = other_remb_bps_.value_or(kNoLimitBps);
  if (negotiated_.transport_cc) weir_write_remote_estimate(0, feedback.remote_estimate.emplace().data());
  return feedback;
}

Feedback Connection::OnTimeout(int64_t now_us) {
  bool is_due = in_charge_ && !limits_;
  if (weir_estimator_next_timeout_us(estimator_.get()) <= now_us) {
    const int due = weir_estimator_on_timeout(estimator_.get(), now_us, nullptr);
    is_due |= due >= 0 && (due & WEIR_REMB_DUE);
  }
  const bool lifts = limits_ && !in_charge_;
  limits_ = in_charge_;
  if (lifts) return LiftLimits();
  weir_estimate estimate{};
  if (!in_charge_ || !is_due || weir_estimator_get_estimate(estimator_.get(), &estimate) < 0) return {};
  return Limit(estimate.target_rate_bps);
}

weir_estimator_statistics Connection::GetStatistics(int64_t now_us) {
  weir_estimator_statistics statistics{};
  weir_estimator_get_statistics(estimator_.get(), now_us, &statistics, sizeof statistics);
  return statistics;
}

}  // namespace weir::janus
