// weir-peer: one end of a WebRTC call, without a screen. `weir-peer --help` says what it does.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "concurrent_controller.h"
#include "lines/command.h"
#include "lines/exit_status.h"
#include "lines/json_output.h"
#include "lines/line_reader.h"
#include "lines/options.h"
#include "peer.h"
#include "quiet_logging.h"
#include "rtc_base/ssl_adapter.h"
#include "weir/policy/policy.h"

namespace weir::peer {
namespace {

// Readable once the process is to end, whoever wants it.
int wake_fd = -1;

void Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd, &one, sizeof one);
}

extern "C" void OnSignal(int) { Wake(); }

nlohmann::ordered_json Versions() {
  // libtgowt has no version number; this is when it was branched from libwebrtc.
  return {{"weir", WEIR_VERSION}, {"libwebrtc", "2023-01"}, {"onnxruntime", OnnxRuntimeVersion()}};
}

// What is wrong with the address; nothing when sockets can be bound to it.
std::optional<std::string> CheckAddress(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1 || address.sin_addr.s_addr == INADDR_ANY)
    return "--bind-address " + text + ": must be the IPv4 address of one interface";
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (fd >= 0) close(fd);
  if (!bound) return "--bind-address " + text + ": no interface has this address";
  return std::nullopt;
}

// The bytes of the model; nothing when it cannot be read, or is far larger than one.
std::optional<std::string> ReadFile(const std::string& path) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::vector<char> chunk(size_t{1} << 16);
  while (bytes.size() <= kMaxBytes && (file.read(chunk.data(), std::ssize(chunk)), file.gcount() > 0)) {
    bytes.append(chunk.data(), static_cast<size_t>(file.gcount()));
  }
  if (file.bad() || bytes.empty() || bytes.size() > kMaxBytes) return std::nullopt;
  return bytes;
}

// The parts of a run that outlive the peer.
class Session {
 public:
  explicit Session(Options options) : options_(std::move(options)), lines_(STDOUT_FILENO) {}
  ~Session() {
    estimates_.reset();
    if (estimates_fd_ >= 0) close(estimates_fd_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int Run() {
    if (const auto fault = CheckAddress(options_.bind_address)) return End(kWrongUse, *fault);
    std::unique_ptr<FrameSource> frames;
    if (options_.send) {
      auto opened = options_.video.empty() ? MakePattern(options_.pattern) : OpenY4mFile(options_.video);
      if (!opened) return End(kWrongUse, opened.error());
      frames = std::move(opened.value());
    }
    if (!options_.estimates.empty()) {
      estimates_fd_ = open(options_.estimates.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      if (estimates_fd_ < 0) return End(kWrongUse, "cannot write the estimates to " + options_.estimates);
      estimates_.emplace(estimates_fd_);
    }
    PilotFactory pilot = RulePilot();
    std::string pilot_name = "rule";
    if (options_.own_controller && options_.receive) {
      const auto controllers = std::make_shared<external::ExternalControllers>(/*watch_libraries=*/false);
      const external::ExternalSpecification& own = *options_.own_controller;
      // One that cannot start is told of before the call; a program that can is kept for it.
      const auto tried = controllers->Start(own, options_.bitrate, options_.objective, /*seed=*/1);
      if (!tried) return End(kWrongUse, tried.error());
      pilot = [this, controllers, &own] {
        return std::make_unique<external::ConcurrentController>(
            own, controllers, [this](const std::string& what) { lines_.WriteError(what, false); });
      };
      pilot_name = own.name;
    } else if (!options_.model.empty() && options_.receive) {
      const auto model = ReadFile(options_.model);
      if (!model) return End(kMissingComponent, "cannot read the model " + options_.model);
      auto policy = PolicyPilot(std::as_bytes(std::span(*model)));
      if (policy) {
        pilot = std::move(policy.value());
        pilot_name = "weir";
      } else {
        lines_.WriteError(options_.model + ": " + policy.error() + "; the ten-line rule decides", false);
      }
    }
    // Before the first estimate; what is said meanwhile waits in standard input.
    lines_.Write({{"type", "ready"},
                  {"versions", Versions()},
                  {"controller", ToString(options_.controller)},
                  {"pilot", pilot_name},
                  {"model", options_.model.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options_.model)},
                  {"codec", options_.codec}});
    auto peer = Peer::Create(options_, std::move(frames), std::move(pilot),
                             {.lines = &lines_, .estimates = estimates_ ? &*estimates_ : &lines_},
                             [this](const std::string& reason) {
                               {
                                 const std::lock_guard lock(mutex_);
                                 failure_ = reason;
                               }
                               Wake();
                             });
    if (!peer) return End(kFailed, peer.error());
    const std::string reason = Obey(*peer.value());
    peer.value().reset();
    const std::lock_guard lock(mutex_);
    if (failure_) return End(kFailed, *failure_);
    if (!lines_.good()) return End(kFailed, "standard output was closed");
    lines_.Write({{"type", "end"}, {"reason", reason}});
    return kDone;
  }

 private:
  // Hands commands on until it is time to end; why.
  std::string Obey(Peer& peer) {
    LineReader reader(STDIN_FILENO, wake_fd);
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
          } else {
            peer.Execute(std::move(command.value()));
          }
        }
      }
    }
  }

  int End(int status, const std::string& reason) {
    lines_.WriteError(reason, true);
    lines_.Write({{"type", "end"}, {"reason", reason}});
    return status;
  }

  const Options options_;
  JsonOutput lines_;
  int estimates_fd_ = -1;
  std::optional<JsonOutput> estimates_;
  std::mutex mutex_;
  std::optional<std::string> failure_;
};

int Main(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--help"} || arguments == std::vector<std::string>{"-h"}) {
    std::cout << kUsage;
    return kDone;
  }
  if (arguments == std::vector<std::string>{"--version"}) {
    std::cout << Versions().dump() << '\n';
    return kDone;
  }
  auto options = ParseOptions(arguments);
  if (!options) {
    std::cerr << "weir-peer: " << options.error() << '\n';
    return kWrongUse;
  }
  wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) {
    std::cerr << "weir-peer: no event descriptor\n";
    return kFailed;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  adapter::SilenceLibwebrtcLog();
  rtc::InitializeSSL();
  const int status = Session(std::move(options.value())).Run();
  rtc::CleanupSSL();
  return status;
}

}  // namespace
}  // namespace weir::peer

int main(int argc, char** argv) { return weir::peer::Main({argv + 1, argv + argc}); }
