// Controllers in Python: built-in ones, models, pools, and custom classes.
#include <pybind11/typing.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "controllers/inline_custom_controller.h"
#include "conversions.h"
#include "registry.h"
#include "user_code.h"
#include "weir/controllers.h"
#include "weir/interval_statistics_fields.h"
#include "weir/names.h"
#include "weir/pool_controller.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

using SharedUserCode = std::shared_ptr<UserCode>;
// fusion(pilot_bps, copilots_bps) and policy(view), which returns the pilot's name.
using PythonFusion = py::typing::Callable<int64_t(int64_t, std::vector<int64_t>)>;
using PythonPolicy = py::typing::Callable<std::string(py::dict)>;

// weir.Pool of Python: each estimator makes a PoolController of its own from it.
struct Pool {
  PoolSpecification specification;
  // Models and custom controllers by the names that the specification has for them.
  std::map<std::string, py::object> members;
  std::optional<PythonFusion> fusion;
  std::optional<PythonPolicy> policy;
};

FusionFunction ToFusion(const std::optional<PythonFusion>& given, const SharedUserCode& code) {
  if (!given) return nullptr;
  return [code, function = std::make_shared<UserCode::Reference>(code, *given)](DataRate pilot,
                                                                                std::span<const DataRate> copilots) {
    std::vector<int64_t> rates_bps(copilots.size());
    std::ranges::transform(copilots, rates_bps.begin(), &DataRate::bps);
    const auto fuse = [&] { return function->get()(pilot.bps(), rates_bps).cast<int64_t>(); };
    return DataRate::BitsPerSecond(code->Call("fusion", fuse, int64_t{0}));
  };
}

py::dict ToDict(const IntervalStatistics& statistics) {
  py::dict described;
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    described[py::cast(field.name)] = statistics.*field.member;
  }
  return described;
}

PilotPolicy ToPolicy(const std::optional<PythonPolicy>& given, const SharedUserCode& code) {
  if (!given) return nullptr;
  return [code, function = std::make_shared<UserCode::Reference>(code, *given)](const PoolView& view) {
    Selection selection = view.line;
    py::list members;
    for (const MemberState& member : view.members) members.append(Describe(member));
    const py::dict described(
        "now_us"_a = view.now.us(), "target_rate_bps"_a = view.target.bps(),
        "objective"_a = std::tuple(view.objective.throughput, view.objective.latency, view.objective.loss),
        "statistics"_a = ToDict(view.statistics), "members"_a = members,
        "pilot"_a = view.members[view.current.pilot].name);
    const auto choose = [&] { return function->get()(described).cast<std::string>(); };
    const std::string name = code->Call("policy", choose, std::string());
    // The index of the member with this name; one past the last if there is none: the pool then keeps its pilot.
    const auto pilot = std::ranges::find(view.members, name, &MemberState::name);
    selection.pilot = static_cast<size_t>(pilot - view.members.begin());
    return selection;
  };
}

py::dict ToDict(const weir_controller_objective& objective) {
  return py::dict("throughput"_a = objective.throughput, "latency"_a = objective.latency, "loss"_a = objective.loss);
}

py::dict ToDict(const weir_controller_packet& packet) {
  py::dict dict("arrival_time_us"_a = packet.arrival_time_us, "ssrc"_a = packet.ssrc,
                "sequence_number"_a = packet.sequence_number, "payload_type"_a = packet.payload_type,
                "kind"_a = kPacketKinds[packet.kind & 3], "header_bytes"_a = packet.header_bytes,
                "payload_bytes"_a = packet.payload_bytes, "padding_bytes"_a = packet.padding_bytes,
                "queueing_delay_us"_a = packet.queueing_delay_us, "lost_change"_a = packet.lost_change);
  if (packet.abs_send_time >= 0) dict["abs_send_time"] = packet.abs_send_time;
  return dict;
}

// Decides by weir.custom_python_class.CustomPythonClass, with the requests that a replay sends as JSON.
class CustomPythonClass final : public CustomCode {
 public:
  CustomPythonClass(SharedUserCode code, py::object controller, TimeDelta interval)
      : code_(std::move(code)), controller_(code_, std::move(controller)), interval_(interval) {}

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    const auto decide = [&]() -> Result<DataRate> {
      py::list packets;
      for (const weir_controller_packet& packet : std::span(interval.packets, interval.packet_count))
        packets.append(ToDict(packet));
      py::dict question("time_us"_a = interval.now_us, "target_bps"_a = interval.target_bps,
                        "objective"_a = ToDict(interval.objective), "packets"_a = packets);
      if (interval.round_trip_time_us > 0) question["round_trip_time_us"] = interval.round_trip_time_us;
      return CheckedTarget(controller_.get().attr("decide")(question).cast<double>());
    };
    return code_->Call("controller", decide, Result<DataRate>(Error{"it raised"}));
  }
  TimeDelta interval() const override { return interval_; }

 private:
  const SharedUserCode code_;
  const UserCode::Reference controller_;
  const TimeDelta interval_;
};

using StartedCode = Result<std::unique_ptr<CustomCode>>;

// Calls `user_class` for the object of one estimator.
StartedCode StartPython(const SharedUserCode& code, const py::object& user_class, const weir_controller_start& start) {
  const auto make_object = [&]() -> StartedCode {
    const py::dict constraints("min_bps"_a = start.min_bps, "start_bps"_a = start.start_bps,
                               "max_bps"_a = start.max_bps, "objective"_a = ToDict(start.objective),
                               "seed"_a = start.seed);
    py::object controller =
        py::module_::import("weir.custom_python_class").attr("CustomPythonClass")(user_class, constraints);
    const auto interval = CheckedInterval(controller.attr("interval_us").cast<double>());
    if (!interval) {
      // Raised as the user's mistake, so that Call() reports it.
      PyErr_SetString(PyExc_ValueError, interval.error().c_str());
      throw py::error_already_set();
    }
    return std::unique_ptr<CustomCode>(
        std::make_unique<CustomPythonClass>(code, std::move(controller), interval.value()));
  };
  return code->Call("controller", make_object, StartedCode(Error{"it raised"}));
}

// Makes the state, for one estimator, of any controller except a pool.
Result<std::unique_ptr<ReceiverController>> MakeMember(const py::object& controller, DataRate start_rate,
                                                       const SharedUserCode& code) {
  if (py::isinstance<SharedModel>(controller)) return MakePolicyController(controller.cast<SharedModel>().model);
  if (py::isinstance<py::str>(controller)) {
    const auto name = controller.cast<std::string>();
    if (auto made = MakeBuiltInController(name, start_rate)) return made;
    return Error{"there is no controller '" + name + "'; there are " + ListNames(kBuiltInControllers, " and ")};
  }
  if (!PyCallable_Check(controller.ptr()))
    return Error{"a controller is a name, a weir.Model, a weir.Pool, or the class of a custom controller"};
  // The object is made later, when the constraints that its class receives are known. A std::function is copied, and
  // a Reference is not: hence the pointer.
  const auto start = [code, user_class = std::make_shared<UserCode::Reference>(code, controller)](
                         const weir_controller_start& request) {
    return StartPython(code, user_class->get(), request);
  };
  return std::unique_ptr<ReceiverController>(std::make_unique<InlineCustomController>("custom", start));
}

}  // namespace

py::dict Describe(const MemberState& member) {
  return py::dict("name"_a = member.name,
                  "rate_bps"_a = member.rate ? py::object(py::int_(member.rate->bps())) : py::none(),
                  "trust"_a = member.trust, "suspended"_a = member.suspended, "decisions"_a = member.decisions,
                  "faults"_a = member.faults);
}

std::unique_ptr<ReceiverController> ToController(const py::object& controller, DataRate start_rate,
                                                 const SharedUserCode& code) {
  if (!py::isinstance<Pool>(controller)) return ValueOf(MakeMember(controller, start_rate, code));
  const Pool pool = controller.cast<Pool>();
  const auto make_member = [&](const std::string& name) {
    const auto found = pool.members.find(name);
    return MakeMember(found == pool.members.end() ? py::str(name) : found->second, start_rate, code);
  };
  return ValueOf(PoolController::Create(
      pool.specification, make_member, {.fusion = ToFusion(pool.fusion, code), .policy = ToPolicy(pool.policy, code)}));
}

void BindControllers(py::module_& module) {
  py::class_<Pool>(module, "Pool")
      .def(py::init([](const std::string& specification, std::map<std::string, py::object> members,
                       std::optional<PythonFusion> fusion, std::optional<PythonPolicy> policy) {
             return Pool{ValueOf(ParsePool(specification)), std::move(members), std::move(fusion), std::move(policy)};
           }),
           "specification"_a, py::kw_only(), "members"_a = py::dict(), "fusion"_a = py::none(),
           "policy"_a = py::none());
}

}  // namespace weir::python
