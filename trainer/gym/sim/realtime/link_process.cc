#include "realtime/link_process.h"

#include <fcntl.h>
#include <ns3/object-factory.h>
#include <ns3/realtime-simulator-impl.h>
#include <ns3/simulator.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "endpoints/controllers.h"
#include "program/input.h"
#include "program/json_lines.h"
#include "program/monotonic_clock.h"
#include "realtime/link_control.h"
#include "realtime/link_input.h"
#include "realtime/real_time.h"
#include "realtime/real_time_link.h"
#include "realtime/tun_device.h"
#include "run/simulation.h"

namespace weir::sim {
namespace {

constexpr const char* kDeviceName = "weir0";
constexpr const char* kLeftAddress = "10.211.0.1";
constexpr const char* kRightAddress = "10.211.0.2";
constexpr const char* kNetmask = "255.255.255.252";
// Whoever writes more nonsense than this will not stop.
constexpr int kMaxErrors = 100;

// SIGINT, SIGTERM and SIGHUP as something to read, for this thread and those it starts.
FileDescriptor TakeSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

// Finds out before the call what would fail at its start: a controller without its model, say.
void TryFlows(const SimulationJob& job) {
  std::vector<FlowObserver*> observers(job.scenario.flows.size(), nullptr);
  const Simulation simulation(job, observers);
}

class LinkProcess final : private LinkInputHandler {
 public:
  LinkProcess(const LinkOptions& options, SimulationJob job, int input_fd, int output_fd)
      : options_(options), job_(std::move(job)), input_fd_(input_fd), output_fd_(output_fd) {}

  // Throws InputError or MissingComponent before anything has begun.
  bool Run();

 private:
  void OnStarted();
  void OnLine(std::string_view line) override;
  void OnEnd(const std::string& reason, bool failed) override;

  const LinkOptions& options_;
  SimulationJob job_;
  const int input_fd_;
  const int output_fd_;
  FileDescriptor left_;
  FileDescriptor right_;
  FileDescriptor signals_;
  std::optional<JsonOutput> log_;
  std::optional<JsonOutput> events_;
  std::optional<RealTimeLink> link_;
  std::optional<LinkInput> input_;
  int errors_ = 0;
  std::string end_reason_;
  bool failed_ = false;
};

bool LinkProcess::Run() {
  left_ = OpenTunDevice(options_.left, kDeviceName, kLeftAddress, kNetmask);
  right_ = OpenTunDevice(options_.right, kDeviceName, kRightAddress, kNetmask);
  const FileDescriptor log_file(open(options_.log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!log_file) throw InputError("cannot write the log " + options_.log_path + ": " + std::strerror(errno));
  signals_ = TakeSignals();
  PreferRealTime();
  // After that: a writer that ordinary threads could push aside would do so with locks in its hands, the allocator's
  // say.
  log_.emplace(log_file.get());
  events_.emplace(output_fd_);

  ns3::Simulator::SetImplementation(ns3::CreateObject<ns3::RealtimeSimulatorImpl>());
  // The fastest for few pending events.
  ns3::ObjectFactory scheduler;
  scheduler.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(scheduler);
  link_.emplace(std::move(job_), RealTimeLinkConfig{
                                     .left_fd = left_.get(),
                                     .right_fd = right_.get(),
                                     .log_interval_ns = options_.log_interval_ms * 1'000'000,
                                     .clock = MonotonicNs,
                                     .on_log =
                                         [this](const nlohmann::ordered_json& line) {
                                           log_->Write(line);
                                           if (!log_->good())
                                             OnEnd("the log " + options_.log_path + " cannot be written", true);
                                         },
                                     .on_too_slow = [this](const std::string& message) { OnEnd(message, true); },
                                 });
  ns3::Simulator::ScheduleNow(&LinkProcess::OnStarted, this);
  ns3::Simulator::Run();
  input_.reset();
  link_->WriteLog();
  ns3::Simulator::Destroy();
  log_.reset();
  events_->Write({{"type", "end"}, {"reason", end_reason_}});
  events_.reset();
  return !failed_;
}

// The simulator runs.
void LinkProcess::OnStarted() {
  input_.emplace(LinkInputConfig{.tun_fds = {left_.get(), right_.get()},
                                 .flows = {&link_->forward().flow(), &link_->reverse().flow()},
                                 .command_fd = input_fd_,
                                 .signal_fd = signals_.get(),
                                 .handler = this});
  events_->Write(
      {{"type", "ready"}, {"device", kDeviceName}, {"left_address", kLeftAddress}, {"right_address", kRightAddress}});
}

void LinkProcess::OnLine(std::string_view line) {
  try {
    const LinkCommand command = ParseLinkCommand(line);
    if (std::holds_alternative<StartCommand>(command)) {
      link_->Start();
      events_->Write({{"type", "started"}});
    } else if (const auto* down = std::get_if<DownCommand>(&command)) {
      link_->Down(down->duration_ns);
      events_->Write({{"type", "down"}, {"duration_s", static_cast<double>(down->duration_ns) * 1e-9}});
    } else {
      OnEnd("stop", false);
    }
  } catch (const InputError& error) {
    const bool fatal = ++errors_ >= kMaxErrors;
    events_->WriteError(error.what(), fatal);
    if (fatal) OnEnd("too many errors in the commands", true);
  }
}

void LinkProcess::OnEnd(const std::string& reason, bool failed) {
  if (!end_reason_.empty()) return;
  if (failed) events_->WriteError(reason, true);
  end_reason_ = reason;
  failed_ = failed;
  ns3::Simulator::Stop();
}

}  // namespace

bool RunLink(const LinkOptions& options, int input_fd, int output_fd) {
  if (options.left == options.right) throw InputError("--left and --right must be two network namespaces");
  SimulationJob job = ReadJob(options.scenario_path, options.job);
  CheckControllerName(job.controller);
  if (!job.model_path.empty()) job.model = std::make_shared<ModelFile>(job.model_path);
  RealTimeLink::RealFlowIndex(job.scenario);
  TryFlows(job);
  // Without this, a link would outlive a parent that was killed while others still hold its standard input.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return LinkProcess(options, std::move(job), input_fd, output_fd).Run();
}

}  // namespace weir::sim
