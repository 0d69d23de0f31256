#include "realtime/link_control.h"

#include "program/json_object.h"
#include "program/json_text.h"
#include "scenario/scenario_parts.h"

namespace weir::sim {
LinkCommand ParseLinkCommand(std::string_view line) {
  const nlohmann::json value = ParseJson(line, "the command " + ShownJson(std::string(line)));
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
