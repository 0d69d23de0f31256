// Allocation-free events and timers, on top of ns-3.
#ifndef WEIR_SIMULATOR_CORE_EVENT_H_
#define WEIR_SIMULATOR_CORE_EVENT_H_

#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/simulator.h>

#include <algorithm>

#include "core/event_engine.h"
#include "core/sim_time.h"

namespace weir::sim {

// ns-3's default resolution is 1 ns, and nothing here changes it.
inline SimTime Now() {
  const EventEngine* const engine = EventEngine::Current();
  return engine ? engine->now() : SimTime::Nanos(ns3::Simulator::Now().GetTimeStep());
}

// `time` must not be in the past.
inline void ScheduleAt(SimTime time, const ns3::Ptr<ns3::EventImpl>& event) {
  EventEngine* const engine = EventEngine::Current();
  if (!engine) {
    ns3::Simulator::Schedule(ns3::TimeStep((time - Now()).ns()), event);
    return;
  }
  event->Ref();
  engine->ScheduleAt(time, ns3::PeekPointer(event));
}

// Calls `(owner->*kMethod)()` at every scheduled time. The owner must outlive the simulation's last event. Calls cannot
// be canceled: a method whose call may be obsolete checks the owner's state.
template <class Owner, void (Owner::*kMethod)()>
class MemberEvent {
 public:
  explicit MemberEvent(Owner* owner) : impl_(ns3::Create<Impl>(owner)) {}

  // `time` must not be in the past.
  void ScheduleAt(SimTime time) { sim::ScheduleAt(time, impl_); }
  void ScheduleAfter(SimDuration delay) { ScheduleAt(Now() + delay); }

 private:
  class Impl final : public ns3::EventImpl {
   public:
    explicit Impl(Owner* owner) : owner_(owner) {}

   private:
    void Notify() override { (owner_->*kMethod)(); }
    Owner* owner_;
  };

  ns3::Ptr<ns3::EventImpl> impl_;
};

// Makes the next simulation run on an EventEngine and destroys the previous one. Call before anything is scheduled.
inline void UseEventEngine() {
  ns3::Simulator::Destroy();
  ns3::Simulator::SetImplementation(ns3::CreateObject<EventEngine>());
}

// Calls `(owner->*kOnTimeout)()` once for each time that is set and not replaced. The owner must outlive the
// simulation's last event.
template <class Owner, void (Owner::*kOnTimeout)()>
class Timer {
 public:
  explicit Timer(Owner* owner) : owner_(owner), event_(this) {}
  ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces the time set before. A past time means now; kNever stops the timer.
  void Set(SimTime time) {
    time_ = time;
    if (event_time_ > time_) Schedule();  // else the pending event checks time_
  }
  void Stop() { time_ = kNever; }

 private:
  void Schedule() {
    event_time_ = std::max(time_, Now());
    event_.ScheduleAt(event_time_);
  }

  void OnEvent() {
    const SimTime now = Now();
    const bool newest = event_time_ <= now;
    if (newest) event_time_ = kNever;
    if (time_ <= now) {
      time_ = kNever;
      (owner_->*kOnTimeout)();
    } else if (newest && time_ != kNever && event_time_ == kNever) {
      Schedule();
    }
  }

  Owner* const owner_;
  SimTime time_ = kNever;
  // Time of the earliest pending event that counts. Events that Set() has superseded do nothing.
  SimTime event_time_ = kNever;
  MemberEvent<Timer, &Timer::OnEvent> event_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_EVENT_H_
