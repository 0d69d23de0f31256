// The two clocks of a virtual call: libwebrtc's simulated clock leads, and the simulator's event engine follows it.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CLOCK_H_
#define WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CLOCK_H_

#include <cstdint>
#include <exception>
#include <utility>

#include "core/event.h"
#include "core/event_engine.h"
#include "core/sim_time.h"
#include "system_wrappers/include/clock.h"

namespace weir::sim {

class VirtualClock {
 public:
  explicit VirtualClock(webrtc::Clock* clock) : clock_(clock) {}

  // Sets the scenario's time 0 to now. Before that, the engine stands still.
  void Start() {
    start_us_ = clock_->TimeInMicroseconds();
    started_ = true;
  }
  bool started() const { return started_; }

  webrtc::Clock* webrtc_clock() const { return clock_; }
  // libwebrtc's time.
  webrtc::Timestamp now() const { return clock_->CurrentTime(); }
  // Time of the scenario; 0 before its start.
  SimTime SimNow() const { return started_ ? SimTime::Micros(clock_->TimeInMicroseconds() - start_us_) : kTimeZero; }
  int64_t start_us() const { return start_us_; }
  // Converts a time of the scenario to libwebrtc's, rounded up.
  int64_t ToWebrtcUs(SimTime time) const { return start_us_ + (time.ns() + 999) / 1000; }

  // Executes the engine's events up to libwebrtc's time. Call before each use of the engine.
  void StepToNow() {
    if (!started_ || failure_) return;
    Guarded([this] {
      EventEngine* const engine = EventEngine::Current();
      const SimTime now = SimNow();
      if (now >= engine->now()) engine->RunUntil(now);
    });
  }

  // Calls `function` and stores its exception: none may pass through libwebrtc.
  template <class Function>
  void Guarded(Function function) {
    try {
      function();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  bool failed() const { return failure_ != nullptr; }
  // Throws the first stored exception.
  void RethrowFailure() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  webrtc::Clock* const clock_;
  int64_t start_us_ = 0;
  bool started_ = false;
  std::exception_ptr failure_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CLOCK_H_
