#include "session.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "command.h"
#include "programs/command_line.h"
#include "programs/custom_controllers.h"
#include "programs/file_descriptor.h"
#include "programs/input.h"
#include "weir/policy_executor.h"
#include "weir/sender_controller.h"

namespace weir::peer {
namespace {

// Throws ProgramError if no socket can be bound to the address.
void CheckAddress(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1 || address.sin_addr.s_addr == INADDR_ANY)
    throw ProgramError("--bind-address " + text + ": must be the IPv4 address of one interface");
  const FileDescriptor bound(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!bound || bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw ProgramError("--bind-address " + text + ": no interface has this address");
}

std::vector<std::byte> ReadModel(const std::string& path) {
  try {
    const std::string model = ReadInputFile(path, "model");
    if (model.empty()) throw ProgramError("the model " + path + " is empty");
    const auto bytes = std::as_bytes(std::span(model));
    return {bytes.begin(), bytes.end()};
  } catch (const ProgramError& error) {
    throw ProgramError(error.what(), kMissingComponent);
  }
}

std::vector<std::string> MembersOf(const PoolSpecification& specification) {
  std::vector<std::string> members = specification.copilots;
  members.push_back(specification.pilot);
  return members;
}

}  // namespace

Session::Session(Options options, nlohmann::ordered_json versions, int wake_fd, std::function<void()> wake)
    : options_(std::move(options)),
      versions_(std::move(versions)),
      wake_fd_(wake_fd),
      wake_(std::move(wake)),
      lines_(STDOUT_FILENO, "weir-peer") {}

int Session::Run() {
  try {
    RunCall();
    return kDone;
  } catch (const ProgramError& error) {
    lines_.WriteError(error.what(), true);
    lines_.Write({{"type", "end"}, {"reason", error.what()}});
    return error.status();
  }
}

std::unique_ptr<FrameSource> Session::OpenFrames() const {
  if (!options_.send) return nullptr;
  return options_.video.empty() ? MakePattern(options_.pattern) : OpenY4mFile(options_.video);
}

Session::NamedController Session::MakeController() {
  if (options_.custom_controller && options_.receive) return CustomAlone();
  if (options_.pool && options_.receive) return MakeOptionsPool();
  if (options_.model.empty() || !(options_.receive || !options_.at_sender.empty())) return {RuleAlone(), "rule"};
  models_[""] = ReadModel(options_.model);
  auto policy = ControllerOf(models_);
  if (policy) return {std::move(policy.value()), "weir"};
  lines_.WriteError(options_.model + ": " + policy.error() + "; the ten-line rule decides", false);
  return {RuleAlone(), "rule"};
}

Result<ControllerFactory> Session::ControllerOf(const std::map<std::string, std::vector<std::byte>>& models) const {
  PolicyExecutorFactory make_executor;
  if (const TimeDelta delay = options_.decision_delay; !delay.IsZero()) {
    make_executor = MakeDelayedInline([delay] { return delay; });
  }
  const bool is_pool = options_.pool && options_.receive;
  return is_pool ? PoolOf(ToString(options_.pool->at_receiver), models, make_executor)
                 : PolicyAlone(models.at(""), make_executor, options_.receive ? FeatureSet() : kSentPacketFeatures);
}

// There is no fallback: the pool was requested explicitly.
Session::NamedController Session::MakeOptionsPool() {
  const PoolSpecification& specification = options_.pool->at_receiver;
  for (const std::string& member : MembersOf(specification)) {
    if (member == "weir" && !options_.model.empty()) models_[""] = ReadModel(options_.model);
    if (member.starts_with("weir:")) models_[member.substr(5)] = ReadModel(member.substr(5));
  }
  return {OrThrow(ControllerOf(models_)), specification.pilot};
}

Session::NamedController Session::CustomAlone() {
  const auto controllers = std::make_shared<CustomControllers>(/*watch_libraries=*/false);
  const CustomControllerSpecification& custom = *options_.custom_controller;
  // Reports a controller that cannot start before the call begins; a started program is kept for the call.
  OrThrow(controllers->Start(custom, options_.bitrate, options_.objective, /*seed=*/1));
  return {[this, controllers, &custom] {
            return std::make_unique<ConcurrentCustomController>(
                custom, controllers, [this](const std::string& what) { lines_.WriteError(what, false); });
          },
          custom.name};
}

void Session::RunCall() {
  CheckAddress(options_.bind_address);
  std::unique_ptr<FrameSource> frames = OpenFrames();
  NamedController controller = MakeController();
  if (options_.receive)
    members_ = options_.pool ? MembersOf(options_.pool->at_receiver) : std::vector<std::string>{controller.name};
  // Comes before the first estimate. Commands that arrive earlier wait in standard input.
  lines_.Write({{"type", "ready"},
                {"versions", versions_},
                {"controller", options_.at_sender.empty() ? ToString(options_.controller) : options_.at_sender},
                {"active", controller.name},
                {"pool", options_.pool ? nlohmann::ordered_json(ToString(options_.pool->at_receiver))
                                       : nlohmann::ordered_json()},
                {"model", options_.model.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options_.model)},
                {"codec", options_.codec}});
  auto peer = Peer::Create(
      options_, std::move(frames), std::move(controller.factory), &lines_,
      [this](const std::string& reason) {
        {
          const std::lock_guard lock(mutex_);
          failure_ = reason;
        }
        wake_();
      },
      MakeMachineRuntime(options_.bind_address));
  const std::string reason = ExecuteCommands(*peer);
  peer.reset();
  const std::lock_guard lock(mutex_);
  if (failure_) throw ProgramError(*failure_, kFailed);
  if (!lines_.good()) throw ProgramError("standard output was closed", kFailed);
  lines_.Write({{"type", "end"}, {"reason", reason}});
}

std::string Session::ExecuteCommands(Peer& peer) {
  LineReader reader(STDIN_FILENO, wake_fd_);
  std::string line;
  while (true) {
    switch (reader.Next(line)) {
      case LineReader::Event::kWoken:
        return "signal";
      case LineReader::Event::kEndOfFile:
        return "end of input";
      case LineReader::Event::kTooLong:
        lines_.WriteError("standard input: a line has more than 1 MiB", false);
        break;
      case LineReader::Event::kLine: {
        auto command = ParseCommand(line);
        if (!command) {
          lines_.WriteError(command.error(), false);
        } else if (std::holds_alternative<StopCommand>(command.value())) {
          return "stop";
        } else if (const auto* model = std::get_if<ModelCommand>(&command.value())) {
          ReplaceModel(*model, peer);
        } else {
          peer.Execute(std::move(command.value()));
        }
      }
    }
  }
}

void Session::ReplaceModel(const ModelCommand& command, Peer& peer) {
  const auto refuse = [&](const std::string& why) {
    lines_.WriteError(command.path + ": " + why + "; the model stays as it is", false);
  };
  if (std::find(members_.begin(), members_.end(), command.member) == members_.end())
    return refuse("this call has no controller " + command.member);
  try {
    auto models = models_;
    models[command.member == "weir" ? "" : command.member.substr(5)] = ReadModel(command.path);
    auto controller = ControllerOf(models);
    if (!controller) return refuse(controller.error());
    models_ = std::move(models);
    peer.SetController(std::move(controller.value()));
  } catch (const ProgramError& error) {
    return refuse(error.what());
  }
  lines_.Write({{"type", "model"}, {"path", command.path}, {"member", command.member}});
}

}  // namespace weir::peer
