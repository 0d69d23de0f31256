#include "call_watchdog.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

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

}  // namespace

WatchedCall::WatchedCall(const std::string& about, TimeDelta limit) {
  Watch& watch = TheWatch();
  const std::lock_guard lock(watch.mutex);
  watch.about = &about;
  watch.limit = limit;
  watch.deadline = Clock::now() + std::chrono::microseconds(limit.us());
}

WatchedCall::~WatchedCall() {
  Watch& watch = TheWatch();
  const std::lock_guard lock(watch.mutex);
  watch.deadline.reset();
}

}  // namespace weir::external
