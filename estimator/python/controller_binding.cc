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
// One object of the user, for lambdas in a std::function: it copies them, and a Reference cannot be copied.
using SharedReference = std::shared_ptr<const UserCode::Reference>;

SharedReference Share(const SharedUserCode& code, py::object object) {
  return std::make_shared<UserCode::Reference>(code, std::move(object));
}

// --- Custom classes

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

py::dict ToDict(const weir_controller_start& start) {
  return py::dict("min_bps"_a = start.min_bps, "start_bps"_a = start.start_bps, "max_bps"_a = start.max_bps,
                  "objective"_a = ToDict(start.objective), "seed"_a = start.seed);
}

// Has the fields of the request that a replay sends as JSON.
py::dict ToDict(const weir_controller_interval& interval) {
  py::list packets;
  for (const weir_controller_packet& packet : std::span(interval.packets, interval.packet_count)) {
    packets.append(ToDict(packet));
  }
  py::dict request("time_us"_a = interval.now_us, "target_bps"_a = interval.target_bps,
                   "objective"_a = ToDict(interval.objective), "packets"_a = packets);
  // 0: not known yet.
  if (interval.round_trip_time_us > 0) request["round_trip_time_us"] = interval.round_trip_time_us;
  return request;
}

// Decides with a weir.custom_python_class.CustomPythonClass, which adapts the object of the user's class.
class CustomPythonClass final : public CustomCode {
 public:
  CustomPythonClass(SharedUserCode code, py::object controller, TimeDelta interval)
      : code_(std::move(code)), controller_(code_, std::move(controller)), interval_(interval) {}

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    const auto decide = [&] {
      return CheckedTarget(controller_.get().attr("decide")(ToDict(interval)).cast<double>());
    };
    return code_->Call("controller", decide, Result<DataRate>(Error{"it raised"}));
  }
  TimeDelta interval() const override { return interval_; }

 private:
  const SharedUserCode code_;
  const UserCode::Reference controller_;
  const TimeDelta interval_;
};

// Returns the interval that the user's class states. Raises ValueError if it is out of range, as if the class had.
TimeDelta IntervalOf(const py::object& controller) {
  const auto interval = CheckedInterval(controller.attr("interval_us").cast<double>());
  if (!interval) {
    // UserCode reports exceptions of Python only, and py::value_error is one of C++.
    PyErr_SetString(PyExc_ValueError, interval.error().c_str());
    throw py::error_already_set();
  }
  return interval.value();
}

using StartedCode = Result<std::unique_ptr<CustomCode>>;

// Makes the object of the user's class for one estimator.
StartedCode StartCustomClass(const SharedUserCode& code, const py::object& user_class,
                             const weir_controller_start& start) {
  const auto make_object = [&]() -> StartedCode {
    const py::object adapter = py::module_::import("weir.custom_python_class").attr("CustomPythonClass");
    const py::object controller = adapter(user_class, ToDict(start));
    return std::unique_ptr<CustomCode>(std::make_unique<CustomPythonClass>(code, controller, IntervalOf(controller)));
  };
  return code->Call("controller", make_object, StartedCode(Error{"it raised"}));
}

// The object is made later, when the constraints that its class receives are known.
std::unique_ptr<ReceiverController> MakeCustomController(const py::object& user_class, const SharedUserCode& code) {
  const auto start = [code, shared_class = Share(code, user_class)](const weir_controller_start& request) {
    return StartCustomClass(code, shared_class->get(), request);
  };
  return std::make_unique<InlineCustomController>("custom", start);
}

// --- Pools

// Python's fusion(pilot_bps, copilots_bps), and policy(view), which returns the name of the next active controller.
using PythonFusion = py::typing::Callable<int64_t(int64_t, std::vector<int64_t>)>;
using PythonPolicy = py::typing::Callable<std::string(py::dict)>;

// weir.Pool: each estimator makes a PoolController of its own from it.
struct Pool {
  PoolSpecification specification;
  // Models and custom classes, by their names in the specification.
  std::map<std::string, py::object> members;
  std::optional<PythonFusion> fusion;
  std::optional<PythonPolicy> policy;
};

FusionFunction ToFusionFunction(const PythonFusion& fusion, const SharedUserCode& code) {
  return [code, shared_fusion = Share(code, fusion)](DataRate pilot, std::span<const DataRate> copilots) {
    std::vector<int64_t> copilots_bps(copilots.size());
    std::ranges::transform(copilots, copilots_bps.begin(), &DataRate::bps);
    const auto fuse = [&] { return shared_fusion->get()(pilot.bps(), copilots_bps).cast<int64_t>(); };
    // The pool counts 0 as a wrong rate, and uses the pilot's.
    return DataRate::BitsPerSecond(code->Call("fusion", fuse, int64_t{0}));
  };
}

py::dict ToDict(const IntervalStatistics& statistics) {
  py::dict dict;
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    dict[py::cast(field.name)] = statistics.*field.member;
  }
  return dict;
}

// weir.types.PoolView.
py::dict ToDict(const PoolView& view) {
  py::list members;
  for (const MemberState& member : view.members) members.append(Describe(member));
  return py::dict("now_us"_a = view.now.us(), "target_rate_bps"_a = view.target.bps(),
                  "objective"_a = std::tuple(view.objective.throughput, view.objective.latency, view.objective.loss),
                  "statistics"_a = ToDict(view.statistics), "members"_a = members,
                  "pilot"_a = view.members[view.current.pilot].name);
}

PilotPolicy ToPilotPolicy(const PythonPolicy& policy, const SharedUserCode& code) {
  return [code, shared_policy = Share(code, policy)](const PoolView& view) {
    const py::dict dict = ToDict(view);
    const auto choose = [&] { return shared_policy->get()(dict).cast<std::string>(); };
    const std::string name = code->Call("policy", choose, std::string());
    // One past the last member if none has this name: the pool ignores an invalid index.
    const auto pilot = std::ranges::find(view.members, name, &MemberState::name);
    Selection selection = view.line;
    selection.pilot = static_cast<size_t>(pilot - view.members.begin());
    return selection;
  };
}

PoolFunctions FunctionsOf(const Pool& pool, const SharedUserCode& code) {
  PoolFunctions functions;
  if (pool.fusion) functions.fusion = ToFusionFunction(*pool.fusion, code);
  if (pool.policy) functions.policy = ToPilotPolicy(*pool.policy, code);
  return functions;
}

// --- All kinds

using MadeController = Result<std::unique_ptr<ReceiverController>>;

MadeController MakeNamedController(const std::string& name, DataRate start_rate) {
  if (auto made = MakeBuiltInController(name, start_rate)) return made;
  return Error{"there is no controller '" + name + "'; there are " + ListNames(kBuiltInControllers, " and ")};
}

// Makes any controller except a pool.
MadeController MakeMember(const py::object& controller, DataRate start_rate, const SharedUserCode& code) {
  if (py::isinstance<SharedModel>(controller)) return MakePolicyController(controller.cast<SharedModel>().model);
  if (py::isinstance<py::str>(controller)) return MakeNamedController(controller.cast<std::string>(), start_rate);
  if (PyCallable_Check(controller.ptr())) return MakeCustomController(controller, code);
  return Error{"a controller is a name, a weir.Model, a weir.Pool, or the class of a custom controller"};
}

// Raises ValueError for an invalid pool or member.
std::unique_ptr<ReceiverController> MakePool(const Pool& pool, DataRate start_rate, const SharedUserCode& code) {
  const auto make_member = [&](const std::string& name) {
    const auto found = pool.members.find(name);
    if (found == pool.members.end()) return MakeNamedController(name, start_rate);
    return MakeMember(found->second, start_rate, code);
  };
  return ValueOf(PoolController::Create(pool.specification, make_member, FunctionsOf(pool, code)));
}

}  // namespace

py::dict Describe(const MemberState& member) {
  const py::object rate_bps = member.rate ? py::object(py::int_(member.rate->bps())) : py::none();
  return py::dict("name"_a = member.name, "rate_bps"_a = rate_bps, "trust"_a = member.trust,
                  "suspended"_a = member.suspended, "decisions"_a = member.decisions, "faults"_a = member.faults);
}

std::unique_ptr<ReceiverController> ToController(const py::object& controller, DataRate start_rate,
                                                 const SharedUserCode& code) {
  if (py::isinstance<Pool>(controller)) return MakePool(controller.cast<Pool>(), start_rate, code);
  return ValueOf(MakeMember(controller, start_rate, code));
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
