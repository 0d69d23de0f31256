// A run of weir-peer: what is opened before the call, the commands that it obeys, how it ends.
#ifndef WEIR_WEBRTC_PATCH_PEER_SESSION_H_
#define WEIR_WEBRTC_PATCH_PEER_SESSION_H_

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lines/command.h"
#include "lines/options.h"
#include "peer.h"
#include "program/json_lines.h"
#include "weir/result.h"

namespace weir::peer {

class Session {
 public:
  // `wake` makes `wake_fd` readable, from any thread; then, whoever did that, the call ends. `versions` go into
  // "ready".
  Session(Options options, nlohmann::ordered_json versions, int wake_fd, std::function<void()> wake);
  ~Session();

  // To the end of the call; the exit status. What went wrong is in an "error" line.
  int Run();

 private:
  struct NamedPool {
    PoolFactory factory;
    // The pilot's.
    std::string name;
  };

  // Throws InputError or MissingComponent.
  std::unique_ptr<FrameSource> OpenFrames() const;
  void OpenEstimates();
  NamedPool MakePool();
  NamedPool OwnAlone();
  NamedPool MakeOptionsPool();
  int RunCall();
  // Hands commands on until it is time to end; why.
  std::string Obey(Peer& peer);
  // What cannot be is answered with an "error" line, and the old model stays.
  void ReplaceModel(const ModelCommand& command, Peer& peer);
  int End(int status, const std::string& reason);

  const Options options_;
  const nlohmann::ordered_json versions_;
  const int wake_fd_;
  const std::function<void()> wake_;
  JsonOutput lines_;
  int estimates_fd_ = -1;
  std::optional<JsonOutput> estimates_;
  // Of the pool that decides at the receiver; empty at a sender.
  std::vector<std::string> members_;
  std::mutex mutex_;
  std::optional<std::string> failure_;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_SESSION_H_
