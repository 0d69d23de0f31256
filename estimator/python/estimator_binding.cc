// weir._core.BandwidthEstimator
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conversions.h"
#include "weir/bandwidth_estimator.h"
#include "weir/pool_controller.h"
#include "weir/remb_sender.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

struct Estimator final : BandwidthEstimator {
  Estimator(BandwidthEstimator made, std::shared_ptr<UserCode> code)
      : BandwidthEstimator(std::move(made)), user_code(std::move(code)) {}

  // Python code of the controller.
  std::shared_ptr<UserCode> user_code;
  RembSender remb_sender;
  // Result of the latest OnTimeout.
  bool remb_due = false;
};

std::unique_ptr<Estimator> Make(const py::object& controller, int64_t min_rate_bps, int64_t start_rate_bps,
                                int64_t max_rate_bps, std::optional<int64_t> max_media_rate_bps,
                                const ObjectiveArgument& objective, bool guard,
                                const std::vector<std::string>& guard_off) {
  const TargetRateConstraints constraints =
      ToConstraints(min_rate_bps, start_rate_bps, max_rate_bps, max_media_rate_bps);
  const auto code = std::make_shared<UserCode>();
  return code->Change([&] {
    auto made =
        ValueOf(BandwidthEstimator::Create({constraints, ToObjective(objective), guard, ToGuardOptions(guard_off)},
                                           ToController(controller, constraints.start_rate, code)));
    return std::make_unique<Estimator>(std::move(made), code);
  });
}

void SetConstraints(Estimator& estimator, int64_t min_rate_bps, int64_t start_rate_bps, int64_t max_rate_bps,
                    std::optional<int64_t> max_media_rate_bps, int64_t now_us) {
  TargetRateConstraints constraints = ToConstraints(min_rate_bps, start_rate_bps, max_rate_bps, max_media_rate_bps);
  constraints.at_time = ToTimestamp("now_us", now_us);
  const auto error = estimator.user_code->Change([&] { return estimator.SetConstraints(constraints); });
  if (error) throw py::value_error(error->message);
}

std::vector<py::dict> Members(Estimator& estimator) {
  using Role = PoolController::Role;
  const PoolController* const pool = PoolIn(estimator.controller());
  const MemberState alone{estimator.controller().active()};
  std::vector<py::dict> members;
  for (const MemberState& state : pool ? pool->members() : std::span(&alone, 1)) {
    py::dict member = Describe(state);
    const Role role = pool ? pool->role(members.size()) : state.suspended ? Role::kSuspended : Role::kPilot;
    member["role"] = std::string(ToString(role));
    members.push_back(std::move(member));
  }
  return members;
}

void OnPacket(Estimator& estimator, int64_t arrival_time_us, int64_t ssrc, int64_t sequence_number,
              int64_t payload_bytes, const std::string& kind, std::optional<int64_t> abs_send_time,
              int64_t rtp_timestamp, int64_t rtp_clock_rate_hz, int64_t header_bytes, int64_t padding_bytes,
              int64_t payload_type, int64_t ecn) {
  PacketArrival packet;
  packet.arrival_time = ToTimestamp("arrival_time_us", arrival_time_us);
  packet.ssrc = Narrow<uint32_t>("ssrc", ssrc);
  packet.sequence_number = Narrow<uint16_t>("sequence_number", sequence_number);
  packet.payload_type = Narrow<uint8_t>("payload_type", payload_type);
  packet.kind = ToPacketKind(kind);
  packet.ecn = ToEcn(ecn);
  packet.has_abs_send_time = abs_send_time.has_value();
  packet.abs_send_time = Narrow<uint32_t>("abs_send_time", abs_send_time.value_or(0));
  packet.rtp_timestamp = Narrow<uint32_t>("rtp_timestamp", rtp_timestamp);
  packet.rtp_clock_rate = Narrow<uint32_t>("rtp_clock_rate_hz", rtp_clock_rate_hz);
  packet.header_size = Narrow<uint32_t>("header_bytes", header_bytes);
  packet.payload_size = Narrow<uint32_t>("payload_bytes", payload_bytes);
  packet.padding_size = Narrow<uint32_t>("padding_bytes", padding_bytes);
  estimator.user_code->Change([&] { estimator.OnPacket(packet); });
}

py::dict Counters(const Estimator& estimator) {
  const EstimatorCounters counters = estimator.counters();
  const ControllerCounters& controller = counters.controller;
  const PoolController* const pool = PoolIn(estimator.controller());
  py::dict found(
      "decisions"_a = controller.decisions, "faults"_a = controller.faults,
      "fallback_decisions"_a = controller.fallback_decisions, "rembs_due"_a = estimator.remb_sender.rembs_due(),
      "packets_duplicate"_a = counters.arrivals.duplicates, "packets_reordered"_a = counters.arrivals.reordered,
      "packets_invalid"_a = counters.arrivals.invalid, "stream_restarts"_a = counters.arrivals.restarts,
      "ssrc_evictions"_a = counters.arrivals.ssrc_evictions, "active_changes"_a = pool ? pool->active_changes() : 0,
      "fusion_faults"_a = pool ? pool->fusion_faults() : 0, "late_decisions"_a = controller.late_decisions);
  const std::span<const GuardRuleInfo> rules = GuardRules();
  for (size_t i = 0; i < rules.size(); ++i) found[py::cast(rules[i].reason)] = counters.guard[i];
  return found;
}

py::dict Statistics(const Estimator& estimator, int64_t now_us) {
  const EstimatorStatistics all = estimator.Statistics(ToTimestamp("now_us", now_us));
  return py::dict("target_rate_bps"_a = all.target_rate.bps(), "reason"_a = std::string(ToString(all.reason)),
                  "receive_rate_bps"_a = all.last_second.receive_rate.bps(),
                  "queueing_delay_us"_a = all.last_second.queueing_delay.us(),
                  "loss_ratio"_a = all.last_second.loss_ratio, "packets_received"_a = all.total.packets,
                  "bytes_received"_a = all.total.size.bytes(), "packets_lost"_a = all.total.packets_lost,
                  "total_queueing_delay_us"_a = all.total.queueing_delay.us(),
                  "packets_with_delay"_a = all.total.packets_with_delay, "clock_restarts"_a = all.clock_restarts);
}

py::bytes MakeRemb(const Estimator& estimator, int64_t sender_ssrc) {
  Remb remb = RembFor(estimator);
  remb.sender_ssrc = Narrow<uint32_t>("sender_ssrc", sender_ssrc);
  std::array<uint8_t, RembSize(kMaxRembSsrcs)> buffer{};
  const size_t size = WriteRemb(remb, buffer);
  return py::bytes(reinterpret_cast<const char*>(buffer.data()), size);
}

}  // namespace

void BindEstimator(py::module_& module) {
  py::class_<Estimate>(module, "Estimate")
      .def_property_readonly("at_time_us", [](const Estimate& e) { return ToMicros(e.at_time); })
      .def_property_readonly("target_rate_bps", [](const Estimate& e) { return e.target_rate.bps(); })
      .def_property_readonly("reason", [](const Estimate& e) { return std::string(ToString(e.reason)); })
      .def("__repr__", [](const Estimate& e) {
        const std::optional<int64_t> at_time_us = ToMicros(e.at_time);
        return "Estimate(at_time_us=" + (at_time_us ? std::to_string(*at_time_us) : "None") +
               ", target_rate_bps=" + std::to_string(e.target_rate.bps()) + ", reason='" +
               std::string(ToString(e.reason)) + "')";
      });

  const TargetRateConstraints defaults;
  py::class_<Estimator>(module, "BandwidthEstimator", py::custom_type_setup(&CollectGarbageOf<Estimator>))
      .def(py::init(&Make), "controller"_a, py::kw_only(), "min_rate_bps"_a = defaults.min_rate.bps(),
           "start_rate_bps"_a = defaults.start_rate.bps(), "max_rate_bps"_a = defaults.max_rate.bps(),
           "max_media_rate_bps"_a = py::none(), "objective"_a = kObjectivePresets[0].name, "guard"_a = true,
           "guard_off"_a = py::tuple())
      .def("on_packet", &OnPacket, py::kw_only(), "arrival_time_us"_a, "ssrc"_a, "sequence_number"_a, "payload_bytes"_a,
           "kind"_a = "video", "abs_send_time"_a = py::none(), "rtp_timestamp"_a = 0, "rtp_clock_rate_hz"_a = 0,
           "header_bytes"_a = 12, "padding_bytes"_a = 0, "payload_type"_a = 0, "ecn"_a = 0)
      .def(
          "remove_stream",
          [](Estimator& e, int64_t ssrc) {
            e.user_code->Change([&] { e.RemoveStream(Narrow<uint32_t>("ssrc", ssrc)); });
          },
          "ssrc"_a)
      .def(
          "on_timeout",
          [](Estimator& e, int64_t now_us) {
            const Timestamp now = ToTimestamp("now_us", now_us);
            return e.user_code->Change([&] {
              const RembSender::Update update = e.remb_sender.OnTimeout(e, now);
              e.remb_due = update.remb_due;
              return update.estimate;
            });
          },
          "now_us"_a)
      .def_property_readonly("next_timeout_us", [](const Estimator& e) { return e.remb_sender.next_timeout(e).us(); })
      .def_readonly("remb_due", &Estimator::remb_due)
      .def_property_readonly("omits_losses", &Estimator::OmitsLosses)
      .def(
          "set_objective",
          [](Estimator& e, const ObjectiveArgument& o) {
            e.user_code->Change([&] { static_cast<void>(e.SetObjective(ToObjective(o))); });
          },
          "objective"_a)
      .def("set_constraints", &SetConstraints, py::kw_only(), "min_rate_bps"_a, "start_rate_bps"_a, "max_rate_bps"_a,
           "max_media_rate_bps"_a = py::none(), "now_us"_a)
      .def(
          "on_round_trip_time",
          [](Estimator& e, int64_t round_trip_time_us, int64_t now_us) {
            e.user_code->Change(
                [&] { e.OnRoundTripTime(TimeDelta::Micros(round_trip_time_us), ToTimestamp("now_us", now_us)); });
          },
          "round_trip_time_us"_a, "now_us"_a)
      .def_property_readonly("latest", [](const Estimator& e) { return e.latest(); })
      .def_property_readonly("suspended", [](const Estimator& e) { return e.controller().active().suspended; })
      .def(
          "set_controller",
          [](Estimator& e, const py::object& controller) {
            const auto code = std::make_shared<UserCode>();
            e.user_code->Change([&] { e.SetController(ToController(controller, e.latest().target_rate, code)); });
            e.user_code = code;
          },
          "controller"_a)
      .def(
          "configure_pool",
          [](Estimator& e, const std::string& specification) {
            const auto error = e.user_code->Change([&]() -> std::optional<Error> {
              PoolController* const pool = PoolIn(e.controller());
              if (!pool) return Error{"the controller is no weir.Pool"};
              return pool->Configure(ValueOf(ParsePool(specification)));
            });
            if (error) throw py::value_error(error->message);
          },
          "specification"_a)
      .def_property_readonly("members", &Members)
      .def("counters", &Counters)
      .def("statistics", &Statistics, "now_us"_a)
      .def("remb", &MakeRemb, "sender_ssrc"_a);
}

}  // namespace weir::python
