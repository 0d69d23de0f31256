// Reads commands from standard input and parses them, one JSON object per line.
#ifndef WEIR_CALLS_PEER_COMMAND_H_
#define WEIR_CALLS_PEER_COMMAND_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "programs/json_lines.h"
#include "receive_side_switch.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/pool_specification.h"
#include "weir/result.h"

namespace weir::peer {

struct StartCommand {};
struct StatsCommand {};
struct StopCommand {};
struct DescriptionCommand {
  bool is_offer = false;
  std::string sdp;
};
// An empty candidate marks the end of candidates.
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
  // A start rate given during a call restarts the sender's estimate.
  bool restart = false;
};
struct ControllerCommand {
  ReceiveSideMode mode;
};
struct PoolCommand {
  PoolSpecification pool;
};
// Replaces the model of a member.
struct ModelCommand {
  std::string path;
  std::string member;
};

using Command = std::variant<StartCommand, StatsCommand, StopCommand, DescriptionCommand, CandidateCommand,
                             ObjectiveCommand, BitrateCommand, ControllerCommand, PoolCommand, ModelCommand>;

// Ignores unknown keys, because browsers add some. The error describes the invalid line.
Result<Command> ParseCommand(std::string_view text);

// Reads lines of bounded size from a file descriptor until `wake_fd` becomes readable.
class LineReader {
 public:
  static constexpr size_t kMaxLineSize = size_t{1} << 20;

  enum class Event {
    kLine,      // `line` holds the line, without its end
    kTooLong,   // a line of more than kMaxLineSize bytes was dropped
    kWoken,     // `wake_fd` became readable
    kEndOfFile  // or the descriptor failed
  };

  LineReader(int fd, int wake_fd) : fd_(fd), wake_fd_(wake_fd) {}

  // Blocks until the next event. A last line without an end is a line.
  Event Next(std::string& line);

 private:
  const int fd_;
  const int wake_fd_;
  LineBuffer buffer_{kMaxLineSize};
  bool end_of_file_ = false;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_COMMAND_H_
