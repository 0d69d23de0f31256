#include "open_loop/open_loop.h"

#include <memory>
#include <ostream>
#include <string>

#include "endpoints/controller_table.h"
#include "endpoints/controllers.h"
#include "open_loop/open_loop_controller.h"
#include "programs/json.h"
#include "run/request.h"
#include "weir/names.h"
#include "weir/network_types.h"

namespace weir::sim {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;

FlowController MakeOpenLoopController(const SimulationJob& job, const TargetRateConstraints& constraints) {
  if (const SimulatedController* row = FindRow(SimulatedControllers(), job.controller); row && row->knows_path)
    throw ProgramError("the controller " + job.controller + " needs the path, and a log does not have it");
  const ControllerContext context{.job = job,
                                  .receiver_constraints = constraints,
                                  .sender_constraints = constraints,
                                  .objective = job.objective.value_or(Objective()),
                                  .transport_cc = false,
                                  .fixed_rate = constraints.start_rate,
                                  .oracle = {}};
  return MakeFlowController(job.controller, context);
}

}  // namespace

void RunOpenLoop(const OpenLoopOptions& options, std::istream& in, std::ostream& out) {
  SimulationJob job = JobOf(options.job, "gcc", "weir-send");
  if (!job.model_path.empty()) job.model = std::make_shared<ModelFile>(job.model_path);
  const TargetRateConstraints constraints = OrThrow(Validated({.min_rate = DataRate::BitsPerSecond(options.min_bps),
                                                               .start_rate = DataRate::BitsPerSecond(options.start_bps),
                                                               .max_rate = DataRate::BitsPerSecond(options.max_bps)}));
  OpenLoopController controller(MakeOpenLoopController(job, constraints), constraints,
                                [&out](Timestamp time, DataRate target) {
                                  out << JsonText({{"time_us", time.us()}, {"target_bps", target.bps()}}) << '\n';
                                });
  int64_t number = 0;
  for (std::string text; ReadLine(in, text, kLongestLine);) {
    const std::string where = "line " + std::to_string(++number);
    if (text.size() > kLongestLine) throw ProgramError(where + " is longer than 1 MiB");
    const nlohmann::json line = ParseJson(text, where);
    JsonObject event(line, where);
    controller.OnEvent(event);
  }
  if (!controller.fed())
    throw ProgramError("no packets for " + job.controller + ": of those at the sender a log needs packets sent, of " +
                       "those at the receiver packets received; weir-send is Weir at the sender");
}

}  // namespace weir::sim
