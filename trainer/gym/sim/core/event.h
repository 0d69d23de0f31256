// Events of ns-3 without an allocation an event.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_
#define WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_

#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/simulator.h>

#include <cstdint>

#include "core/event_engine.h"

namespace weir::sim {

// ns-3 counts in ns unless told otherwise, and nothing here tells it.
inline int64_t NowNs() {
  const EventEngine* const engine = EventEngine::Current();
  return engine ? engine->now_ns() : ns3::Simulator::Now().GetTimeStep();
}

// At a time that is not in the past.
inline void ScheduleAt(int64_t time_ns, const ns3::Ptr<ns3::EventImpl>& event) {
  EventEngine* const engine = EventEngine::Current();
  if (!engine) {
    ns3::Simulator::Schedule(ns3::TimeStep(time_ns - NowNs()), event);
    return;
  }
  event->Ref();
  engine->ScheduleAt(time_ns, ns3::PeekPointer(event));
}

// Calls `(owner->*kMethod)()` at every time it has been scheduled for. The owner must outlive the simulation's last
// event. There is no way to cancel: a method that may be called for nothing looks at its owner's state.
template <class Owner, void (Owner::*kMethod)()>
class MemberEvent {
 public:
  explicit MemberEvent(Owner* owner) : impl_(ns3::Create<Impl>(owner)) {}

  // `time_ns` is not in the past.
  void ScheduleAt(int64_t time_ns) { sim::ScheduleAt(time_ns, impl_); }
  void ScheduleAfter(int64_t delay_ns) { ScheduleAt(NowNs() + delay_ns); }

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

// Has the next simulation run on an EventEngine. Call before anything is scheduled; what an earlier one has left goes.
void UseEventEngine();

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_
