// The receiver's estimator in the C interface.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "c/c_api.h"
#include "weir/pool_controller.h"
#include "weir/remb_sender.h"

using weir::TimeDelta;
using weir::Timestamp;
using weir::internal::Fail;
using weir::internal::FailArgument;
using weir::internal::kBadRoundTripTime;
using weir::internal::kBadTime;
using weir::internal::MakeController;
using weir::internal::OnHandle;
using weir::internal::SetConstraints;
using weir::internal::SetObjective;
using weir::internal::Write;
using weir::internal::WriteSized;
using weir::internal::WriteStatistics;

struct weir_estimator {
  weir::BandwidthEstimator estimator;
  weir::RembSender remb_sender = {};
  weir_log_callback log = nullptr;
  void* log_argument = nullptr;

  void LogSuspension(bool was_suspended) const {
    const weir::ControllerState& active = estimator.controller().active();
    if (log == nullptr || was_suspended == active.suspended) return;
    if (was_suspended) {
      log(log_argument, WEIR_LOG_INFO, ("controller '" + active.name + "' is back").c_str());
    } else {
      log(log_argument, WEIR_LOG_WARNING,
          ("controller '" + active.name + "' fails; the fallback has taken over").c_str());
    }
  }
};

namespace {

weir_estimate ToC(const weir::Estimate& estimate) {
  // The names are literals, hence terminated.
  return {estimate.at_time.us(), estimate.target_rate.bps(), weir::ToString(estimate.reason).data()};
}

}  // namespace

int weir_estimator_create(const weir_controller* controller, const weir_estimator_config* config,
                          weir_estimator** out) noexcept {
  return weir::internal::Create(out, [&](weir_estimator*& estimator) {
    const auto given = weir::internal::ReadConfig(config);
    if (!given) return FailArgument(given.error());
    auto chosen = MakeController(controller, given.value().constraints.start_rate);
    if (!chosen) return FailArgument(chosen.error());
    auto made = weir::BandwidthEstimator::Create(given.value(), std::move(chosen.value()));
    if (!made) return FailArgument(made.error());
    estimator = new weir_estimator{
        .estimator = std::move(made.value()),
        .log = config == nullptr ? nullptr : config->log,
        .log_argument = config == nullptr ? nullptr : config->log_argument,
    };
    return static_cast<int>(WEIR_OK);
  });
}

void weir_estimator_destroy(weir_estimator* estimator) noexcept { delete estimator; }

int weir_estimator_on_packet(weir_estimator* estimator, const weir_packet* packet) noexcept {
  return OnHandle(estimator, [&] {
    if (packet == nullptr) return FailArgument("the packet is NULL");
    if (packet->kind > WEIR_PACKET_RETRANSMISSION) return FailArgument("the packet's kind is unknown");
    if (packet->ecn > weir::internal::kLargestEcn) return FailArgument(weir::internal::kBadEcn);
    estimator->estimator.OnPacket({
        .arrival_time = Timestamp::Micros(packet->arrival_time_us),
        .ssrc = packet->ssrc,
        .sequence_number = packet->sequence_number,
        .payload_type = packet->payload_type,
        .kind = static_cast<weir::PacketKind>(packet->kind),
        .ecn = static_cast<weir::EcnMarking>(packet->ecn),
        .has_abs_send_time = packet->has_abs_send_time != 0,
        .abs_send_time = packet->abs_send_time,
        .rtp_timestamp = packet->rtp_timestamp,
        .rtp_clock_rate = packet->rtp_clock_rate_hz,
        .header_size = packet->header_bytes,
        .payload_size = packet->payload_bytes,
        .padding_size = packet->padding_bytes,
    });
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_remove_stream(weir_estimator* estimator, uint32_t ssrc) noexcept {
  return OnHandle(estimator, [&] {
    estimator->estimator.RemoveStream(ssrc);
    return static_cast<int>(WEIR_OK);
  });
}

int64_t weir_estimator_next_timeout_us(const weir_estimator* estimator) noexcept {
  return estimator == nullptr ? INT64_MAX : estimator->remb_sender.next_timeout(estimator->estimator).us();
}

int weir_estimator_omits_losses(const weir_estimator* estimator) noexcept {
  return estimator != nullptr && estimator->estimator.OmitsLosses() ? 1 : 0;
}

int weir_estimator_on_timeout(weir_estimator* estimator, int64_t now_us, weir_estimate* estimate) noexcept {
  return OnHandle(estimator, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    const bool suspended = estimator->estimator.controller().active().suspended;
    const auto [changed, remb_due] = estimator->remb_sender.OnTimeout(estimator->estimator, now);
    estimator->LogSuspension(suspended);
    if ((changed || remb_due) && estimate != nullptr) *estimate = ToC(estimator->estimator.latest());
    return (changed ? WEIR_ESTIMATE_CHANGED : 0) | (remb_due ? WEIR_REMB_DUE : 0);
  });
}

int weir_estimator_get_estimate(const weir_estimator* estimator, weir_estimate* estimate) noexcept {
  return OnHandle(estimator, [&] { return Write(ToC(estimator->estimator.latest()), estimate); });
}

int weir_estimator_set_objective(weir_estimator* estimator, float throughput, float latency, float loss) noexcept {
  return OnHandle(estimator, [&] { return SetObjective(estimator->estimator, throughput, latency, loss); });
}

int weir_estimator_set_constraints(weir_estimator* estimator, const weir_target_rate_constraints* constraints,
                                   int64_t now_us) noexcept {
  return OnHandle(estimator, [&] { return SetConstraints(estimator->estimator, constraints, now_us); });
}

int weir_estimator_set_controller(weir_estimator* estimator, const weir_controller* controller) noexcept {
  return OnHandle(estimator, [&] {
    auto made = MakeController(controller, estimator->estimator.latest().target_rate);
    if (!made) return FailArgument(made.error());
    estimator->estimator.SetController(std::move(made.value()));
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_on_round_trip_time(weir_estimator* estimator, int64_t round_trip_time_us, int64_t now_us) noexcept {
  return OnHandle(estimator, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    const TimeDelta time = TimeDelta::Micros(round_trip_time_us);
    if (!weir::IsRoundTripTime(time)) return FailArgument(kBadRoundTripTime);
    estimator->estimator.OnRoundTripTime(time, now);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_write_remb(const weir_estimator* estimator, uint32_t sender_ssrc, uint8_t* buffer,
                              size_t buffer_size_bytes) noexcept {
  return OnHandle(estimator, [&] {
    if (buffer == nullptr) return FailArgument("the buffer is NULL");
    weir::Remb remb = weir::RembFor(estimator->estimator);
    remb.sender_ssrc = sender_ssrc;
    const size_t size = weir::WriteRemb(remb, {buffer, buffer_size_bytes});
    return size > 0 ? static_cast<int>(size)
                    : Fail(WEIR_ERROR_BUFFER_TOO_SMALL, "the buffer is too small for the REMB; 1040 bytes always do");
  });
}

static_assert(WEIR_REMOTE_ESTIMATE_SIZE == weir::kRemoteEstimateSize);
static_assert(WEIR_REMOTE_ESTIMATE_LOWER_BPS == weir::kRemoteEstimateLower.bps());

int weir_write_remote_estimate(int64_t link_capacity_lower_bps, uint8_t* buffer) noexcept {
  if (buffer == nullptr) return FailArgument("the buffer is NULL");
  if (link_capacity_lower_bps < 0) return FailArgument("the lower bound is below 0");
  std::ranges::copy(weir::WriteRemoteEstimate(weir::DataRate::BitsPerSecond(link_capacity_lower_bps)), buffer);
  return WEIR_OK;
}

int weir_estimator_get_counters(const weir_estimator* estimator, weir_estimator_counters* counters,
                                size_t size_bytes) noexcept {
  return OnHandle(estimator, [&] {
    const weir::EstimatorCounters now = estimator->estimator.counters();
    const weir::PoolController* const pool = weir::PoolIn(estimator->estimator.controller());
    weir_estimator_counters values{
        .decisions = now.controller.decisions,
        .faults = now.controller.faults,
        .fallback_decisions = now.controller.fallback_decisions,
        .late_decisions = now.controller.late_decisions,
        .active_changes = pool == nullptr ? 0 : pool->active_changes(),
        .fusion_faults = pool == nullptr ? 0 : pool->fusion_faults(),
        .rembs_due = estimator->remb_sender.rembs_due(),
        .packets_duplicate = now.arrivals.duplicates,
        .packets_reordered = now.arrivals.reordered,
        .packets_invalid = now.arrivals.invalid,
        .stream_restarts = now.arrivals.restarts,
        .ssrc_evictions = now.arrivals.ssrc_evictions,
        .guard = {},
    };
    std::ranges::copy(now.guard, values.guard);
    return WriteSized(values, counters, size_bytes);
  });
}

const char* weir_guard_rule_name(size_t index) noexcept {
  constexpr size_t kPrefix = std::string_view("guard_").size();
  return index < weir::GuardRules().size() ? weir::GuardRules()[index].reason.data() + kPrefix : nullptr;
}

int weir_estimator_get_statistics(const weir_estimator* estimator, int64_t now_us,
                                  weir_estimator_statistics* statistics, size_t size_bytes) noexcept {
  return OnHandle(estimator, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    return WriteStatistics(estimator->estimator, now, statistics, size_bytes);
  });
}
