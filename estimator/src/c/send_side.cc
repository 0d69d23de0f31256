// The sender's estimator in the C interface.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "c/c_api.h"
#include "weir/send_side_estimator.h"
#include "weir/sequence_number_unwrapper.h"

using weir::TimeDelta;
using weir::Timestamp;
using weir::internal::FailArgument;
using weir::internal::kBadTime;
using weir::internal::OnHandle;
using weir::internal::SetConstraints;
using weir::internal::SetObjective;

struct weir_send_side {
  weir::SendSideEstimator estimator;
  weir::SequenceNumberUnwrapper sequence_numbers;
  // Scratch space for one message.
  std::vector<weir::PacketFeedback> reports;
};

namespace {

constexpr size_t kMaxReports = 65'536;

}  // namespace

int weir_send_side_create(const weir_controller* controller, const weir_estimator_config* config, double pacing_factor,
                          weir_send_side** out) noexcept {
  return weir::internal::Create(out, [&](weir_send_side*& send_side) {
    const auto given = weir::internal::ReadConfig(config);
    if (!given) return FailArgument(given.error());
    auto made = weir::internal::MakeController(controller, given.value().constraints.start_rate);
    if (!made) return FailArgument(made.error());
    weir::SendSideEstimatorConfig sender{.estimator = given.value()};
    if (pacing_factor != 0) sender.pacing_factor = pacing_factor;
    auto estimator = weir::SendSideEstimator::Create(sender, std::move(made.value()));
    if (!estimator) return FailArgument(estimator.error());
    auto created = std::make_unique<weir_send_side>(weir_send_side{std::move(estimator.value()), {}, {}});
    created->reports.reserve(weir::SendSideEstimator::kHistory);
    send_side = created.release();
    return static_cast<int>(WEIR_OK);
  });
}

void weir_send_side_destroy(weir_send_side* send_side) noexcept { delete send_side; }

int weir_send_side_on_sent_packet(weir_send_side* send_side, const weir_sent_packet* packet) noexcept {
  return OnHandle(send_side, [&] {
    if (packet == nullptr) return FailArgument("the packet is NULL");
    if (packet->kind > WEIR_PACKET_RETRANSMISSION) return FailArgument("the packet's kind is unknown");
    weir::PacketDeparture departure{.send_time = Timestamp::Micros(packet->send_time_us),
                                    .kind = static_cast<weir::PacketKind>(packet->kind),
                                    .size = weir::DataSize::Bytes(packet->size_bytes),
                                    .probe_cluster_id = packet->probe_cluster_id};
    // The estimator ignores a packet with an impossible time, and so its number must not count as sent.
    if (IsTime(departure.send_time))
      departure.sequence_number = send_side->sequence_numbers.OnSentPacket(packet->sequence_number);
    send_side->estimator.OnSentPacket(departure);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_send_side_on_transport_feedback(weir_send_side* send_side, const weir_packet_feedback* feedback,
                                         size_t feedback_count, int64_t now_us) noexcept {
  return OnHandle(send_side, [&] {
    if (feedback == nullptr && feedback_count > 0) return FailArgument("the feedback is NULL");
    if (feedback_count > kMaxReports) return FailArgument("one feedback message is about at most 65536 packets");
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    send_side->reports.clear();
    for (const weir_packet_feedback& report : std::span(feedback, feedback_count)) {
      if (report.fate > WEIR_PACKET_FATE_UNKNOWN) return FailArgument("a packet's fate is unknown to this version");
      if (report.ecn > weir::internal::kLargestEcn) return FailArgument(weir::internal::kBadEcn);
      send_side->reports.push_back({.sequence_number = send_side->sequence_numbers.OnReport(report.sequence_number),
                                    .fate = static_cast<weir::PacketFate>(report.fate),
                                    .receive_time = Timestamp::Micros(report.receive_time_us),
                                    .ecn = static_cast<weir::EcnMarking>(report.ecn)});
    }
    send_side->estimator.OnTransportFeedback(send_side->reports, now);
    return static_cast<int>(WEIR_OK);
  });
}

int64_t weir_send_side_next_timeout_us(const weir_send_side* send_side) noexcept {
  return send_side == nullptr ? INT64_MAX : send_side->estimator.next_timeout().us();
}

int weir_send_side_on_timeout(weir_send_side* send_side, int64_t now_us) noexcept {
  return OnHandle(send_side, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    send_side->estimator.OnTimeout(now);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_send_side_get_rates(const weir_send_side* send_side, weir_send_side_rates* rates) noexcept {
  return OnHandle(send_side, [&] {
    const weir::TargetTransferRate target = send_side->estimator.target_rate();
    const weir_send_side_rates values{
        .at_time_us = target.at_time.us(),
        .target_rate_bps = target.target_rate.bps(),
        .pacing_rate_bps = send_side->estimator.pacer_config().pacing_rate.bps(),
        .congestion_window_bytes = send_side->estimator.congestion_window().bytes(),
        // The names are literals, hence terminated.
        .reason = weir::ToString(send_side->estimator.estimator().latest().reason).data(),
    };
    return weir::internal::Write(values, rates);
  });
}

int weir_send_side_set_desired_rate(weir_send_side* send_side, int64_t total_bps, int64_t next_bps) noexcept {
  return OnHandle(send_side, [&] {
    const auto error = send_side->estimator.SetDesiredRate(
        {weir::DataRate::BitsPerSecond(total_bps), weir::DataRate::BitsPerSecond(next_bps)});
    return error ? FailArgument(error->message) : static_cast<int>(WEIR_OK);
  });
}

int weir_send_side_take_probe_cluster(weir_send_side* send_side, weir_probe_cluster* cluster) noexcept {
  return OnHandle(send_side, [&] {
    if (cluster == nullptr) return FailArgument("the cluster is NULL");
    const auto due = send_side->estimator.TakeProbeCluster();
    weir_probe_cluster values{};
    if (due) {
      values = {.target_data_rate_bps = due->target_data_rate.bps(),
                .target_duration_us = due->target_duration.us(),
                .target_probe_count = due->target_probe_count,
                .id = due->id};
    }
    return weir::internal::Write(values, cluster);
  });
}

int weir_send_side_get_network_state(const weir_send_side* send_side, weir_network_state* state) noexcept {
  return OnHandle(send_side, [&] {
    const weir::NetworkState& now = send_side->estimator.estimator().network_state();
    const weir_network_state values{.at_time_us = now.at_time.us(),
                                    .link_capacity_bps = now.link_capacity.bps(),
                                    .state = static_cast<int32_t>(now.state)};
    return weir::internal::Write(values, state);
  });
}

int weir_send_side_set_objective(weir_send_side* send_side, float throughput, float latency, float loss) noexcept {
  return OnHandle(send_side, [&] { return SetObjective(send_side->estimator, throughput, latency, loss); });
}

int weir_send_side_set_constraints(weir_send_side* send_side, const weir_target_rate_constraints* constraints,
                                   int64_t now_us) noexcept {
  return OnHandle(send_side, [&] { return SetConstraints(send_side->estimator, constraints, now_us); });
}

int weir_send_side_on_round_trip_time(weir_send_side* send_side, int64_t round_trip_time_us, int64_t now_us) noexcept {
  return OnHandle(send_side, [&] {
    if (!IsTime(Timestamp::Micros(now_us))) return FailArgument(kBadTime);
    const TimeDelta time = TimeDelta::Micros(round_trip_time_us);
    if (!weir::IsRoundTripTime(time)) return FailArgument(weir::internal::kBadRoundTripTime);
    send_side->estimator.OnRoundTripTime(time);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_send_side_get_counters(const weir_send_side* send_side, weir_send_side_counters* counters,
                                size_t size_bytes) noexcept {
  return OnHandle(send_side, [&] {
    const weir::SendSideCounters& now = send_side->estimator.counters();
    const weir::ProbeCounters& probes = send_side->estimator.probe_counters();
    const weir_send_side_counters values{
        .packets_received = now.received,
        .packets_lost = now.lost,
        .packets_fate_unknown = now.fate_unknown,
        .reports_duplicate = now.duplicates,
        .reports_not_in_history = now.not_in_history,
        .packets_invalid = now.invalid,
        .arrivals_late = now.late,
        .clock_restarts = now.clock_restarts,
        .probe_clusters = probes.clusters,
        .probes_carried = probes.carried,
        .probes_limited = probes.limited,
        .probe_bytes = static_cast<uint64_t>(probes.size.bytes()),
    };
    return weir::internal::WriteSized(values, counters, size_bytes);
  });
}

int weir_send_side_get_statistics(const weir_send_side* send_side, weir_estimator_statistics* statistics,
                                  size_t size_bytes) noexcept {
  return OnHandle(send_side, [&] {
    const weir::BandwidthEstimator& estimator = send_side->estimator.estimator();
    return weir::internal::WriteStatistics(estimator, estimator.latest().at_time, statistics, size_bytes);
  });
}
