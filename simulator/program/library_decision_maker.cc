// A controller in a shared library with the entry point of weir_controller.h.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "program/decision_maker.h"

namespace weir::external {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(50);

struct Watch {
  std::mutex mutex;
  const std::string* about = nullptr;
  TimeDelta limit = TimeDelta::Zero();
  std::optional<Clock::time_point> deadline;
};

// Never destroyed: its thread runs to the end of the process.
Watch& TheWatch() {
  static Watch& watch = *[] {
    auto* made = new Watch;
    std::thread([made] {
      while (true) {
        std::this_thread::sleep_for(kLook);
        const std::lock_guard lock(made->mutex);
        if (!made->deadline || Clock::now() < *made->deadline) continue;
        std::fprintf(stderr, "%s: it has not come back within %g s\n", made->about->c_str(), made->limit.seconds());
        _exit(1);
      }
    }).detach();
    return made;
  }();
  return watch;
}

// While this object lives, the call is being made: code that is not ours. After `limit` (0.1 s more or less) the
// process writes "ABOUT: it has not come back within LIMIT" to standard error and exits with status 1. One at a time;
// `about` outlives it.
class WatchedCall {
 public:
  WatchedCall(const std::string& about, TimeDelta limit) {
    Watch& watch = TheWatch();
    const std::lock_guard lock(watch.mutex);
    watch.about = &about;
    watch.limit = limit;
    watch.deadline = Clock::now() + std::chrono::microseconds(limit.us());
  }
  ~WatchedCall() {
    Watch& watch = TheWatch();
    const std::lock_guard lock(watch.mutex);
    watch.deadline.reset();
  }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
};

constexpr char kEntry[] = "weir_controller_entry";

Result<const weir_controller_functions*> Functions(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Error{std::string("it cannot be loaded: ") + dlerror()};
  const auto entry = reinterpret_cast<weir_controller_entry_function>(dlsym(library, kEntry));
  if (!entry) return Error{std::string("it exports no function ") + kEntry + "; see weir_controller.h"};
  const weir_controller_functions* const functions = entry();
  if (const auto error = CheckFunctions(functions)) return *error;
  return functions;
}

// Null where nobody watches.
std::unique_ptr<WatchedCall> Watched(const std::string& about, std::optional<TimeDelta> limit) {
  return limit ? std::make_unique<WatchedCall>(about, *limit) : nullptr;
}

class LibraryDecisionMaker final : public DecisionMaker {
 public:
  // `watch_limit`: nothing where nobody watches.
  LibraryDecisionMaker(std::unique_ptr<DecisionMaker> functions, std::string about,
                       std::optional<TimeDelta> watch_limit)
      : functions_(std::move(functions)), about_(std::move(about)), watch_limit_(watch_limit) {}
  ~LibraryDecisionMaker() override {
    const auto watched = Watched(about_, watch_limit_);
    functions_.reset();
  }
  LibraryDecisionMaker(const LibraryDecisionMaker&) = delete;
  LibraryDecisionMaker& operator=(const LibraryDecisionMaker&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    const auto watched = Watched(about_, watch_limit_);
    return functions_->Decide(interval);
  }
  TimeDelta interval() const override { return functions_->interval(); }

 private:
  std::unique_ptr<DecisionMaker> functions_;
  const std::string about_;
  const std::optional<TimeDelta> watch_limit_;
};

}  // namespace

Result<std::unique_ptr<DecisionMaker>> StartLibrary(const std::string& path, const std::string& about,
                                                    const weir_controller_start& start, TimeDelta decision_limit,
                                                    bool watch) {
  const auto watched = Watched(about, watch ? std::optional(decision_limit * kStartLimitFactor) : std::nullopt);
  const auto functions = Functions(path);
  if (!functions) return Error{functions.error()};
  auto started = StartFunctions(*functions.value(), start);
  if (!started) return started;
  const auto watch_limit = watch ? std::optional(decision_limit) : std::nullopt;
  return std::unique_ptr<DecisionMaker>(
      std::make_unique<LibraryDecisionMaker>(std::move(started.value()), about, watch_limit));
}

}  // namespace weir::external
