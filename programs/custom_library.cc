// A controller in a shared library with the entry point of weir_controller.h.
#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "programs/custom_controllers.h"

namespace weir {
namespace {

// Watches a call into foreign code for the lifetime of this object. After `limit` the process writes "ABOUT: it has not
// come back within LIMIT" to standard error and exits with status 1. Only one instance may exist at a time.
class WatchedCall {
 public:
  WatchedCall(const std::string& about, TimeDelta limit) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", limit.seconds());
    message = about + ": it has not come back within " + seconds + " s\n";
    std::signal(SIGALRM, [](int) {
      [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
      _exit(1);
    });
    SetTimer(limit);
  }
  ~WatchedCall() { SetTimer(TimeDelta::Zero()); }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

 private:
  static void SetTimer(TimeDelta after) {
    const itimerval once{.it_interval = {},
                         .it_value = {.tv_sec = after.us() / 1'000'000, .tv_usec = after.us() % 1'000'000}};
    setitimer(ITIMER_REAL, &once, nullptr);
  }

  static inline std::string message;
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

// Null without a limit: the call is not watched.
std::unique_ptr<WatchedCall> Watched(const std::string& about, std::optional<TimeDelta> limit) {
  return limit ? std::make_unique<WatchedCall>(about, *limit) : nullptr;
}

class CustomLibrary final : public CustomCode {
 public:
  // Without `watch_limit`, calls are not watched.
  CustomLibrary(std::unique_ptr<CustomCode> functions, std::string about, std::optional<TimeDelta> watch_limit)
      : functions_(std::move(functions)), about_(std::move(about)), watch_limit_(watch_limit) {}
  ~CustomLibrary() override {
    const auto watched = Watched(about_, watch_limit_);
    functions_.reset();
  }
  CustomLibrary(const CustomLibrary&) = delete;
  CustomLibrary& operator=(const CustomLibrary&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    const auto watched = Watched(about_, watch_limit_);
    return functions_->Decide(interval);
  }
  TimeDelta interval() const override { return functions_->interval(); }

 private:
  std::unique_ptr<CustomCode> functions_;
  const std::string about_;
  const std::optional<TimeDelta> watch_limit_;
};

}  // namespace

Result<std::unique_ptr<CustomCode>> StartLibrary(const std::string& path, const std::string& about,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 bool watch) {
  const auto watched = Watched(about, watch ? std::optional(decision_limit * kStartLimitFactor) : std::nullopt);
  const auto functions = Functions(path);
  if (!functions) return Error{functions.error()};
  auto started = StartFunctions(*functions.value(), start);
  if (!started) return started;
  const auto watch_limit = watch ? std::optional(decision_limit) : std::nullopt;
  return std::unique_ptr<CustomCode>(std::make_unique<CustomLibrary>(std::move(started.value()), about, watch_limit));
}

}  // namespace weir
