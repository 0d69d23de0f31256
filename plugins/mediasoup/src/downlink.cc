#include "downlink.h"

#include <algorithm>
#include <new>

namespace weir::mediasoup {
namespace {

// Replaces the rates that are known, and keeps the order of the bounds.
void Apply(const Constraints& constraints, weir_target_rate_constraints& all) {
  if (constraints.min_bps > 0) all.min_rate_bps = constraints.min_bps;
  if (constraints.max_bps > 0) all.max_rate_bps = constraints.max_bps;
  all.max_rate_bps = std::max(all.max_rate_bps, all.min_rate_bps);
}

}  // namespace

Downlink::Downlink(const Settings& settings, const std::string& connection, const Constraints& constraints)
    : connection_(*settings.connections, observe::ConnectionId(connection), "gcc") {
  weir_estimator_config config = EstimatorConfig();
  Apply(constraints, config.constraints);
  if (constraints.start_bps > 0) config.constraints.start_rate_bps = constraints.start_bps;
  constraints_ = config.constraints;
  weir_send_side* estimator = nullptr;
  // The settings are valid, so only memory can be missing.
  if (weir_send_side_create(settings.controller.get(), &config, 0, &estimator) != WEIR_OK) throw std::bad_alloc();
  estimator_.reset(estimator);
}

void Downlink::OnSentPacket(uint16_t number, int64_t sent_us, uint32_t size_bytes, int32_t probe_cluster_id) {
  latest_sent_us_ = sent_us;
  weir_sent_packet packet{};
  packet.send_time_us = sent_us;
  packet.size_bytes = size_bytes;
  packet.sequence_number = number;
  packet.kind = probe_cluster_id == 0 ? WEIR_PACKET_VIDEO : WEIR_PACKET_PROBE;
  packet.probe_cluster_id = probe_cluster_id;
  weir_send_side_on_sent_packet(estimator_.get(), &packet);
}

void Downlink::OnFeedback(const std::vector<weir_packet_feedback>& packets, int64_t now_us) {
  weir_send_side_on_transport_feedback(estimator_.get(), packets.data(), packets.size(), now_us);
}

void Downlink::OnRoundTripTime(int64_t round_trip_us, int64_t now_us) {
  weir_send_side_on_round_trip_time(estimator_.get(), round_trip_us, now_us);
}

void Downlink::SetConstraints(const Constraints& constraints, int64_t now_us) {
  Apply(constraints, constraints_);
  weir_send_side_set_constraints(estimator_.get(), &constraints_, now_us);
}

void Downlink::SetDesiredRate(int64_t total_bps) {
  if (total_bps > 0) weir_send_side_set_desired_rate(estimator_.get(), total_bps, 0);
}

bool Downlink::Update(std::optional<int64_t> other_bps, int64_t now_us) {
  if (weir_send_side_next_timeout_us(estimator_.get()) <= now_us) weir_send_side_on_timeout(estimator_.get(), now_us);
  if (latest_sent_us_ && connection_.ObservationIsDue(*latest_sent_us_, now_us)) {
    weir_estimator_statistics statistics{};
    weir_send_side_rates rates{};
    if (weir_send_side_get_statistics(estimator_.get(), &statistics, sizeof statistics) == WEIR_OK &&
        weir_send_side_get_rates(estimator_.get(), &rates) == WEIR_OK) {
      statistics.target_rate_bps = rates.target_rate_bps;
      statistics.reason = rates.reason;
      connection_.Observe(statistics, other_bps, now_us);
    }
  }
  return connection_.IsWeirInCharge(now_us);
}

int64_t Downlink::target_bps() const {
  weir_send_side_rates rates{};
  weir_send_side_get_rates(estimator_.get(), &rates);
  return rates.target_rate_bps;
}

weir_probe_cluster Downlink::TakeProbeCluster() {
  weir_probe_cluster cluster{};
  weir_send_side_take_probe_cluster(estimator_.get(), &cluster);
  return cluster;
}

}  // namespace weir::mediasoup
