// weir._core.SendSideEstimator
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "conversions.h"
#include "weir/controllers.h"
#include "weir/send_side_estimator.h"
#include "weir/sequence_number_unwrapper.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

struct Estimator final : SendSideEstimator {
  Estimator(SendSideEstimator made, std::shared_ptr<UserCode> code)
      : SendSideEstimator(std::move(made)), user_code(std::move(code)) {}

  // Python code of the controller.
  const std::shared_ptr<UserCode> user_code;
  SequenceNumberUnwrapper sequence_numbers;
};

// Transport-wide sequence number, arrival time on the receiver's clock (None: lost), and optionally the ECN field.
using Report =
    std::variant<std::pair<int64_t, std::optional<int64_t>>, std::tuple<int64_t, std::optional<int64_t>, int64_t>>;

std::unique_ptr<Estimator> Make(const py::object& controller, int64_t min_rate_bps, int64_t start_rate_bps,
                                int64_t max_rate_bps, std::optional<int64_t> max_media_rate_bps,
                                const ObjectiveArgument& objective, bool guard,
                                const std::vector<std::string>& guard_off, double pacing_factor) {
  const TargetRateConstraints constraints =
      ToConstraints(min_rate_bps, start_rate_bps, max_rate_bps, max_media_rate_bps);
  const SendSideEstimatorConfig config{.estimator = {.constraints = constraints,
                                                     .objective = ToObjective(objective),
                                                     .guard = guard,
                                                     .guard_rules = ToGuardOptions(guard_off)},
                                       .pacing_factor = pacing_factor};
  const auto code = std::make_shared<UserCode>();
  return code->Change([&] {
    auto made = ValueOf(SendSideEstimator::Create(config, ToController(controller, constraints.start_rate, code)));
    return std::make_unique<Estimator>(std::move(made), code);
  });
}

void OnSentPacket(Estimator& estimator, int64_t send_time_us, int64_t sequence_number, int64_t size_bytes,
                  const std::string& kind, int64_t probe_cluster_id) {
  estimator.user_code->Change([&] {
    PacketDeparture packet{.send_time = ToTimestamp("send_time_us", send_time_us),
                           .kind = ToPacketKind(kind),
                           .size = DataSize::Bytes(Narrow<uint16_t>("size_bytes", size_bytes)),
                           .probe_cluster_id = Narrow<int32_t>("probe_cluster_id", probe_cluster_id)};
    // Last, so that the number of a packet with an invalid argument does not count as sent.
    const auto number = Narrow<uint16_t>("sequence_number", sequence_number);
    packet.sequence_number = estimator.sequence_numbers.OnSentPacket(number);
    estimator.OnSentPacket(packet);
  });
}

void OnTransportFeedback(Estimator& estimator, const std::vector<Report>& feedback, int64_t now_us) {
  std::vector<PacketFeedback> reports;
  reports.reserve(feedback.size());
  for (const Report& given : feedback) {
    const auto* const pair = std::get_if<0>(&given);
    const auto [sequence_number, receive_time_us, ecn] =
        pair != nullptr ? std::tuple(pair->first, pair->second, int64_t{0}) : std::get<1>(given);
    PacketFeedback& report = reports.emplace_back();
    report.sequence_number = estimator.sequence_numbers.OnReport(Narrow<uint16_t>("sequence_number", sequence_number));
    report.fate = receive_time_us ? PacketFate::kReceived : PacketFate::kLost;
    if (receive_time_us) report.receive_time = ToTimestamp("receive_time_us", *receive_time_us);
    report.ecn = ToEcn(ecn);
  }
  estimator.user_code->Change([&] { estimator.OnTransportFeedback(reports, ToTimestamp("now_us", now_us)); });
}

void SetDesiredRate(Estimator& estimator, int64_t total_bps, int64_t next_bps) {
  const auto error = estimator.user_code->Change([&] {
    return estimator.SetDesiredRate({DataRate::BitsPerSecond(total_bps), DataRate::BitsPerSecond(next_bps)});
  });
  if (error) throw py::value_error(error->message);
}

std::optional<py::dict> TakeProbeCluster(Estimator& estimator) {
  const auto cluster = estimator.user_code->Change([&] { return estimator.TakeProbeCluster(); });
  if (!cluster) return std::nullopt;
  return py::dict("id"_a = cluster->id, "target_data_rate_bps"_a = cluster->target_data_rate.bps(),
                  "target_duration_us"_a = cluster->target_duration.us(),
                  "target_probe_count"_a = cluster->target_probe_count);
}

std::string CongestionStateOf(const Estimator& estimator) {
  return std::string(ToString(estimator.estimator().network_state().state));
}

py::dict Counters(const Estimator& estimator) {
  const SendSideCounters& counters = estimator.counters();
  const ProbeCounters& probes = estimator.probe_counters();
  return py::dict("packets_received"_a = counters.received, "packets_lost"_a = counters.lost,
                  "packets_fate_unknown"_a = counters.fate_unknown, "reports_duplicate"_a = counters.duplicates,
                  "reports_not_in_history"_a = counters.not_in_history, "packets_invalid"_a = counters.invalid,
                  "arrivals_late"_a = counters.late, "clock_restarts"_a = counters.clock_restarts,
                  "probe_clusters"_a = probes.clusters, "probes_carried"_a = probes.carried,
                  "probes_limited"_a = probes.limited, "probe_bytes"_a = probes.size.bytes(),
                  "decisions"_a = estimator.estimator().counters().controller.decisions);
}

}  // namespace

void BindSendSide(py::module_& module) {
  const TargetRateConstraints defaults;
  py::class_<Estimator>(module, "SendSideEstimator", py::custom_type_setup(&CollectGarbageOf<Estimator>))
      .def(py::init(&Make), "controller"_a, py::kw_only(), "min_rate_bps"_a = defaults.min_rate.bps(),
           "start_rate_bps"_a = defaults.start_rate.bps(), "max_rate_bps"_a = defaults.max_rate.bps(),
           "max_media_rate_bps"_a = py::none(), "objective"_a = kObjectivePresets[0].name, "guard"_a = true,
           "guard_off"_a = py::tuple(), "pacing_factor"_a = SendSideEstimatorConfig().pacing_factor)
      .def("on_sent_packet", &OnSentPacket, py::kw_only(), "send_time_us"_a, "sequence_number"_a, "size_bytes"_a,
           "kind"_a = "video", "probe_cluster_id"_a = 0)
      .def("on_transport_feedback", &OnTransportFeedback, "feedback"_a, "now_us"_a)
      .def(
          "on_timeout",
          [](Estimator& e, int64_t now_us) {
            e.user_code->Change([&] { e.OnTimeout(ToTimestamp("now_us", now_us)); });
          },
          "now_us"_a)
      .def_property_readonly("next_timeout_us", [](const Estimator& e) { return ToMicros(e.next_timeout()); })
      .def_property_readonly("target_rate_bps", [](const Estimator& e) { return e.target_rate().target_rate.bps(); })
      .def_property_readonly("pacing_rate_bps", [](const Estimator& e) { return e.pacer_config().pacing_rate.bps(); })
      .def_property_readonly("congestion_window_bytes",
                             [](const Estimator& e) {
                               const DataSize window = e.congestion_window();
                               return window.IsFinite() ? std::optional(window.bytes()) : std::nullopt;
                             })
      .def_property_readonly("reason",
                             [](const Estimator& e) { return std::string(ToString(e.estimator().latest().reason)); })
      .def(
          "set_objective",
          [](Estimator& e, const ObjectiveArgument& o) {
            e.user_code->Change([&] { static_cast<void>(e.SetObjective(ToObjective(o))); });
          },
          "objective"_a)
      .def(
          "set_constraints",
          [](Estimator& e, int64_t min_rate_bps, int64_t start_rate_bps, int64_t max_rate_bps,
             std::optional<int64_t> max_media_rate_bps) {
            const TargetRateConstraints constraints =
                ToConstraints(min_rate_bps, start_rate_bps, max_rate_bps, max_media_rate_bps);
            const auto error = e.user_code->Change([&] { return e.SetConstraints(constraints); });
            if (error) throw py::value_error(error->message);
          },
          py::kw_only(), "min_rate_bps"_a, "start_rate_bps"_a, "max_rate_bps"_a, "max_media_rate_bps"_a = py::none())
      .def(
          "on_round_trip_time",
          [](Estimator& e, int64_t round_trip_time_us) {
            e.user_code->Change([&] { e.OnRoundTripTime(TimeDelta::Micros(round_trip_time_us)); });
          },
          "round_trip_time_us"_a)
      .def("set_desired_rate", &SetDesiredRate, py::kw_only(), "total_bps"_a, "next_bps"_a = 0)
      .def("take_probe_cluster", &TakeProbeCluster)
      .def_property_readonly("congestion_state", &CongestionStateOf)
      .def("counters", &Counters);
}

}  // namespace weir::python
