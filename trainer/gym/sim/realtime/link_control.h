// What `weir-sim link` is told: one JSON object a line.
#ifndef WEIR_TRAINER_GYM_SIM_REALTIME_LINK_CONTROL_H_
#define WEIR_TRAINER_GYM_SIM_REALTIME_LINK_CONTROL_H_

#include <cstdint>
#include <string_view>
#include <variant>

namespace weir::sim {

// The scenario's time 0 is now.
struct StartCommand {};
// Everything is dropped from now on for that long.
struct DownCommand {
  int64_t duration_ns = 0;
};
struct StopCommand {};
using LinkCommand = std::variant<StartCommand, DownCommand, StopCommand>;

// {"type":"start"}, {"type":"down","duration_s":5} or {"type":"stop"}. Throws InputError.
LinkCommand ParseLinkCommand(std::string_view line);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REALTIME_LINK_CONTROL_H_
