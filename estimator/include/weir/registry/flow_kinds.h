// The kinds of flows that a scenario can have, each registered by its one line in `kFlowKinds`: the readers of
// scenarios, the records of results and Python (weir.registry) follow it.
#ifndef WEIR_REGISTRY_FLOW_KINDS_H_
#define WEIR_REGISTRY_FLOW_KINDS_H_

#include <string_view>

namespace weir {

struct RegisteredFlowKind {
  // Lower case with hyphens, each there once.
  std::string_view name;
  // What it is, in a line.
  std::string_view summary;
};

inline constexpr RegisteredFlowKind kFlowKinds[] = {
    {.name = "rtp", .summary = "media over RTP, under a rate controller"},
    {.name = "tcp", .summary = "a TCP sender: one endless transfer, or short ones"},
    {.name = "cbr", .summary = "packets at a constant bit rate"},
};

}  // namespace weir

#endif  // WEIR_REGISTRY_FLOW_KINDS_H_
