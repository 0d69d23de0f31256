// weir._core.Repair, and the playout delay
#include <cstdint>
#include <string>

#include "conversions.h"
#include "weir/playout_delay.h"
#include "weir/repair_monitor.h"
#include "weir/repair_policy.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

// The policy, with the measurements of a receiver.
struct RepairChoice {
  RepairMonitor monitor;
  RepairPolicy policy;
};

std::string Choose(RepairChoice& repair, RepairObservation observation, int64_t rate_bps) {
  if (rate_bps > 0) observation.rate = DataRate::BitsPerSecond(rate_bps);
  return std::string(ToString(repair.policy.Update(observation)));
}

void OnPacket(RepairChoice& repair, int64_t ssrc, int64_t sequence_number, int64_t now_us) {
  repair.monitor.OnPacket(Narrow<uint32_t>("ssrc", ssrc), Narrow<uint16_t>("sequence_number", sequence_number),
                          ToTimestamp("now_us", now_us));
}

void OnRetransmission(RepairChoice& repair, int64_t ssrc, int64_t sequence_number, const py::bytes& payload,
                      int64_t now_us) {
  const auto bytes = ToBytes(payload);
  repair.monitor.OnRetransmission(Narrow<uint32_t>("ssrc", ssrc), Narrow<uint16_t>("sequence_number", sequence_number),
                                  {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                  ToTimestamp("now_us", now_us));
}

std::string ChooseAtReceiver(RepairChoice& repair, int64_t rate_bps, int64_t now_us) {
  return Choose(repair, repair.monitor.Observe(ToTimestamp("now_us", now_us), repair.policy.repair()), rate_bps);
}

std::string ChooseAtSender(RepairChoice& repair, int64_t rate_bps, int64_t round_trip_us, double loss_ratio,
                           double feedback_loss_ratio, int64_t now_us) {
  return Choose(repair,
                {.at_time = ToTimestamp("now_us", now_us),
                 .repair_time = RepairPolicy::RepairTimeAtSender(TimeDelta::Micros(round_trip_us)),
                 .loss_ratio = loss_ratio,
                 .nack_loss_ratio = feedback_loss_ratio},
                rate_bps);
}

int64_t MaxPlayoutDelayUs(int64_t jitter_us, int64_t round_trip_time_us, int64_t frame_interval_us,
                          int64_t previous_us) {
  return MaxPlayoutDelay({.jitter = TimeDelta::Micros(jitter_us),
                          .round_trip_time = TimeDelta::Micros(round_trip_time_us),
                          .frame_interval = TimeDelta::Micros(frame_interval_us)},
                         TimeDelta::Micros(previous_us))
      .us();
}

}  // namespace

void BindRepair(py::module_& module) {
  py::class_<RepairChoice>(module, "Repair")
      .def(py::init<>())
      .def("on_packet", &OnPacket, "ssrc"_a, "sequence_number"_a, "now_us"_a)
      .def("on_retransmission", &OnRetransmission, "ssrc"_a, "sequence_number"_a, "payload"_a, "now_us"_a)
      .def("choose", &ChooseAtReceiver, "rate_bps"_a, "now_us"_a)
      .def("choose_at_sender", &ChooseAtSender, "rate_bps"_a, "round_trip_us"_a, "loss_ratio"_a,
           "feedback_loss_ratio"_a, "now_us"_a);
  module.attr("MIN_PLAYOUT_DELAY_US") = kMinPlayoutDelay.us();
  module.def("max_playout_delay_us", &MaxPlayoutDelayUs, "jitter_us"_a, "round_trip_time_us"_a, "frame_interval_us"_a,
             "previous_us"_a = 0);
}

}  // namespace weir::python
