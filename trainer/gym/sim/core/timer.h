// A timer that can be moved: one callback, at most one time set, on top of ns-3's one-shot events.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_TIMER_H_
#define WEIR_TRAINER_GYM_SIM_CORE_TIMER_H_

#include <algorithm>
#include <cstdint>

#include "core/event.h"
#include "core/sim_time.h"

namespace weir::sim {

// `(owner->*kOnTimeout)()` is called once for each time that is set and not replaced. The owner must outlive the
// simulation's last event.
template <class Owner, void (Owner::*kOnTimeout)()>
class Timer {
 public:
  explicit Timer(Owner* owner) : owner_(owner), event_(this) {}
  ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces what was set before; a time that is past means now; kNeverNs stops.
  void Set(int64_t time_ns) {
    time_ns_ = time_ns;
    if (event_ns_ > time_ns_) Schedule();  // else the pending event will look at time_ns_ again
  }
  void Stop() { time_ns_ = kNeverNs; }

 private:
  void Schedule() {
    event_ns_ = std::max(time_ns_, NowNs());
    event_.ScheduleAt(event_ns_);
  }

  void OnEvent() {
    const int64_t now_ns = NowNs();
    const bool newest = event_ns_ <= now_ns;
    if (newest) event_ns_ = kNeverNs;
    if (time_ns_ <= now_ns) {
      time_ns_ = kNeverNs;
      (owner_->*kOnTimeout)();
    } else if (newest && time_ns_ != kNeverNs && event_ns_ == kNeverNs) {
      Schedule();
    }
  }

  Owner* const owner_;
  int64_t time_ns_ = kNeverNs;
  // Of the earliest event that is pending and counts; others, left behind by Set, find nothing to do.
  int64_t event_ns_ = kNeverNs;
  MemberEvent<Timer, &Timer::OnEvent> event_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_TIMER_H_
