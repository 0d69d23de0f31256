#include "link_process.h"

#include <fcntl.h>
#include <ns3/object-factory.h>
#include <ns3/realtime-simulator-impl.h>
#include <ns3/simulator.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "endpoints/controllers.h"
#include "link_input.h"
#include "programs/input.h"
#include "programs/json.h"
#include "programs/json_lines.h"
#include "programs/monotonic_clock.h"
#include "real_time_link.h"
#include "run/simulation.h"
#include "tun.h"

namespace weir::sim {
namespace {

// Gives the calling thread and those that it starts real-time priority, and locks the process's memory, if permitted.
void PreferRealTime() {
  // The lowest real-time priority suffices: it precedes all ordinary threads.
  sched_param parameters{};
  parameters.sched_priority = sched_get_priority_min(SCHED_FIFO);
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
}

// The number of invalid commands at which the link stops.
constexpr int kMaxErrors = 100;

// Blocks SIGINT, SIGTERM and SIGHUP in this thread and those it starts, and returns a descriptor to read them from.
FileDescriptor TakeSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

// Detects before the call what would fail at its start, for example a controller without its model.
void TryFlows(const SimulationJob& job) {
  std::vector<FlowObserver*> observers(job.scenario.flows.size(), nullptr);
  const Simulation simulation(job, observers);
}

class LinkProcess {
 public:
  LinkProcess(const LinkOptions& options, SimulationJob job, int input_fd, int output_fd)
      : options_(options), job_(std::move(job)), input_fd_(input_fd), output_fd_(output_fd) {}

  // Throws ProgramError before the link starts.
  bool Run();

 private:
  void OnStarted();
  void OnLine(std::string_view line);
  void OnEnd(const std::string& reason, bool failed);

  const LinkOptions& options_;
  SimulationJob job_;
  const int input_fd_;
  const int output_fd_;
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
  for (const int fd : {options_.left_fd, options_.right_fd}) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
      throw ProgramError("descriptor " + std::to_string(fd) + ": " + std::strerror(errno));
    }
  }
  const FileDescriptor log_file(open(options_.log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!log_file) throw ProgramError("cannot write the log " + options_.log_path + ": " + std::strerror(errno));
  signals_ = TakeSignals();
  PreferRealTime();
  // After PreferRealTime(): a writer without priority could be preempted with locks held, such as the allocator's.
  log_.emplace(log_file.get());
  events_.emplace(output_fd_);

  ns3::Simulator::SetImplementation(ns3::CreateObject<ns3::RealtimeSimulatorImpl>());
  // The fastest scheduler for few pending events.
  ns3::ObjectFactory scheduler;
  scheduler.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(scheduler);
  link_.emplace(std::move(job_), RealTimeLinkConfig{
                                     .left_fd = options_.left_fd,
                                     .right_fd = options_.right_fd,
                                     .log_interval = SimDuration::Millis(options_.log_interval_ms),
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

// Called when the simulator runs.
void LinkProcess::OnStarted() {
  input_.emplace(LinkInputConfig{.tun_fds = {options_.left_fd, options_.right_fd},
                                 .flows = {&link_->forward().flow(), &link_->reverse().flow()},
                                 .command_fd = input_fd_,
                                 .signal_fd = signals_.get(),
                                 .on_line = [this](std::string_view line) { OnLine(line); },
                                 .on_end = [this](const std::string& reason, bool failed) { OnEnd(reason, failed); }});
  events_->Write({{"type", "ready"}});
}

void LinkProcess::OnLine(std::string_view line) {
  try {
    const LinkCommand command = ParseLinkCommand(line);
    switch (command.type) {
      case LinkCommand::Type::kStart:
        link_->Start();
        return events_->Write({{"type", "started"}});
      case LinkCommand::Type::kDown:
        link_->Down(command.down_duration);
        return events_->Write({{"type", "down"}, {"duration_s", command.down_duration.seconds()}});
      case LinkCommand::Type::kStop:
        return OnEnd("stop", false);
    }
  } catch (const ProgramError& error) {
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

LinkCommand ParseLinkCommand(std::string_view line) {
  const nlohmann::json value = ParseJson(line, "the command " + ShownJson(std::string(line)));
  JsonObject object(value, "");
  LinkCommand command{.type = static_cast<LinkCommand::Type>(object.Choice("type", {"start", "down", "stop"}))};
  if (command.type == LinkCommand::Type::kDown) {
    command.down_duration = SimDuration::Nanos(
        std::llround(object.Number("duration_s", {.min = 0, .max = 3600, .min_excluded = true}) * 1e9));
  }
  object.RefuseUnknownKeys();
  return command;
}

bool RunLink(const LinkOptions& options, int input_fd, int output_fd) {
  if (options.left_fd == options.right_fd) throw ProgramError("--left and --right must be two descriptors");
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
