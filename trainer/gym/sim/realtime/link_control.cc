#include "realtime/link_control.h"

#include <cmath>

#include "program/json.h"

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
      command = DownCommand{std::llround(object.Number("duration_s", {.min = 0, .max = 3600, .min_excluded = true}) * 1e9)};
      break;
    default:
      command = StopCommand();
  }
  object.RefuseUnknownKeys();
  return command;
}

}  // namespace weir::sim
