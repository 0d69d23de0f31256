// A run of weir-peer: opens files and models, makes the call, and executes commands until its end.
#ifndef WEIR_CALLS_PEER_SESSION_H_
#define WEIR_CALLS_PEER_SESSION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "options.h"
#include "peer.h"
#include "programs/json_lines.h"
#include "weir/result.h"

namespace weir::peer {

class Session {
 public:
  // `wake` makes `wake_fd` readable, from any thread; then the call ends. `versions` are part of "ready".
  Session(Options options, nlohmann::ordered_json versions, int wake_fd, std::function<void()> wake);

  // Runs to the end of the call and returns the exit status. Errors are "error" lines.
  int Run();

 private:
  struct NamedController {
    ControllerFactory factory;
    // Name of the first active controller.
    std::string name;
  };

  // These throw ProgramError.
  std::unique_ptr<FrameSource> OpenFrames() const;
  // Returns the options' pool, else the policy alone; policies have the options' delay.
  Result<ControllerFactory> ControllerOf(const std::map<std::string, std::vector<std::byte>>& models) const;
  NamedController MakeController();
  NamedController CustomAlone();
  NamedController MakeOptionsPool();
  void RunCall();
  // Returns the reason of the end.
  std::string ExecuteCommands(Peer& peer);
  // If the new model cannot be used, writes an "error" line and keeps the old one.
  void ReplaceModel(const ModelCommand& command, Peer& peer);

  const Options options_;
  const nlohmann::ordered_json versions_;
  const int wake_fd_;
  const std::function<void()> wake_;
  JsonOutput lines_;
  // The models in use, as PoolOf() takes them.
  std::map<std::string, std::vector<std::byte>> models_;
  // Members of the receiver's pool; empty at a sender.
  std::vector<std::string> members_;
  std::mutex mutex_;
  std::optional<std::string> failure_;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_SESSION_H_
