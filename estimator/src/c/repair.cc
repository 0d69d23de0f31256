// The choice of repair in the C interface.
#include "c/c_api.h"
#include "weir/repair_monitor.h"
#include "weir/repair_policy.h"

using weir::DataRate;
using weir::Repair;
using weir::RepairObservation;
using weir::TimeDelta;
using weir::Timestamp;
using weir::internal::FailArgument;
using weir::internal::kBadTime;
using weir::internal::OnHandle;

struct weir_repair {
  weir::RepairMonitor monitor;
  weir::RepairPolicy policy;
};

namespace {

static_assert(static_cast<int>(Repair::kNack) == WEIR_REPAIR_NACK && static_cast<int>(Repair::kFec) == WEIR_REPAIR_FEC);

int Choose(weir_repair& repair, RepairObservation observation, int64_t rate_bps) {
  if (rate_bps > 0) observation.rate = DataRate::BitsPerSecond(rate_bps);
  return static_cast<int>(repair.policy.Update(observation));
}

}  // namespace

int weir_repair_create(weir_repair** out) noexcept {
  return weir::internal::Create(out, [](weir_repair*& repair) {
    repair = new weir_repair{};
    return static_cast<int>(WEIR_OK);
  });
}

void weir_repair_destroy(weir_repair* repair) noexcept { delete repair; }

int weir_repair_on_packet(weir_repair* repair, uint32_t ssrc, uint16_t sequence_number, int64_t now_us) noexcept {
  return OnHandle(repair, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    repair->monitor.OnPacket(ssrc, sequence_number, now);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_repair_on_retransmission(weir_repair* repair, uint32_t ssrc, uint16_t sequence_number, const uint8_t* payload,
                                  size_t payload_size, int64_t now_us) noexcept {
  return OnHandle(repair, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    if (payload == nullptr && payload_size > 0) return FailArgument("payload is NULL");
    repair->monitor.OnRetransmission(ssrc, sequence_number, {payload, payload_size}, now);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_repair_choose(weir_repair* repair, int64_t rate_bps, int64_t now_us) noexcept {
  return OnHandle(repair, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    return Choose(*repair, repair->monitor.Observe(now, repair->policy.repair()), rate_bps);
  });
}

int weir_repair_choose_at_sender(weir_repair* repair, int64_t rate_bps, int64_t round_trip_us, double loss_ratio,
                                 double feedback_loss_ratio, int64_t now_us) noexcept {
  return OnHandle(repair, [&] {
    RepairObservation observation;
    observation.at_time = Timestamp::Micros(now_us);
    if (!IsTime(observation.at_time)) return FailArgument(kBadTime);
    observation.repair_time = weir::RepairPolicy::RepairTimeAtSender(TimeDelta::Micros(round_trip_us));
    observation.loss_ratio = loss_ratio;
    observation.nack_loss_ratio = feedback_loss_ratio;
    return Choose(*repair, observation, rate_bps);
  });
}
