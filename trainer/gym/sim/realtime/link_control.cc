#include "realtime/link_control.h"

#include "core/json_object.h"
#include "scenario/scenario_parts.h"

namespace weir::sim {

LinkCommand ParseLinkCommand(std::string_view line) {
  // The second argument silences the exception: a line that is no JSON is nothing exceptional.
  const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
  if (value.is_discarded()) throw InputError("a command that is not JSON: " + ShownJson(std::string(line)));
  JsonObject object(value, "");
  LinkCommand command;
  switch (object.Choice("type", {"start", "down", "stop"})) {
    case 0:
      command = StartCommand();
      break;
    case 1:
      command = DownCommand{SecondsToNs(object.Number("duration_s", {.min = 0, .max = 3600, .min_excluded = true}))};
      break;
    default:
      command = StopCommand();
  }
  object.RefuseUnknownKeys();
  return command;
}

}  // namespace weir::sim
