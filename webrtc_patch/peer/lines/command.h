// What weir-peer is told on standard input: one JSON object a line.
#ifndef WEIR_WEBRTC_PATCH_PEER_LINES_COMMAND_H_
#define WEIR_WEBRTC_PATCH_PEER_LINES_COMMAND_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "receive_side_switch.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/pool_controller.h"
#include "weir/result.h"

namespace weir::peer {

struct StartCommand {};
struct StatsCommand {};
struct StopCommand {};
struct DescriptionCommand {
  bool is_offer = false;
  std::string sdp;
};
// An empty candidate tells that there are no more.
struct CandidateCommand {
  std::string candidate;
  std::string sdp_mid;
  int sdp_mline_index = 0;
};
struct ObjectiveCommand {
  Objective objective;
};
struct BitrateCommand {
  TargetRateConstraints bitrate;
  // A start rate given in a call makes a sender begin its estimate anew there.
  bool restart = false;
};
struct ControllerCommand {
  ReceiveSideMode mode;
};
struct PoolCommand {
  PoolSpecification pool;
};
// Another model in the member's place.
struct ModelCommand {
  std::string path;
  std::string member;
};

using Command = std::variant<StartCommand, StatsCommand, StopCommand, DescriptionCommand, CandidateCommand,
                             ObjectiveCommand, BitrateCommand, ControllerCommand, PoolCommand, ModelCommand>;

// Keys that are not known are ignored, as browsers add some. The error says what is wrong with the line.
Result<Command> ParseCommand(std::string_view text);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_LINES_COMMAND_H_
