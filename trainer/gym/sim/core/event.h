// ns-3's event engine without an allocation an event.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_
#define WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_

#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/simulator.h>

#include <cstdint>

namespace weir::sim {

// ns-3 counts in ns unless told otherwise, and nothing here tells it.
inline int64_t NowNs() { return ns3::Simulator::Now().GetTimeStep(); }

// Calls `(owner->*kMethod)()` at every time it has been scheduled for. The owner must outlive the simulation's last
// event. There is no way to cancel: a method that may be called for nothing looks at its owner's state.
template <class Owner, void (Owner::*kMethod)()>
class MemberEvent {
 public:
  explicit MemberEvent(Owner* owner) : impl_(ns3::Create<Impl>(owner)) {}

  // `time_ns` is not in the past.
  void ScheduleAt(int64_t time_ns) { ScheduleAfter(time_ns - NowNs()); }
  void ScheduleAfter(int64_t delay_ns) { ns3::Simulator::Schedule(ns3::TimeStep(delay_ns), impl_); }

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

// Has the next simulation use the scheduler that is fastest for few pending events. Call after Simulator::Destroy,
// before anything is scheduled.
void UseFastScheduler();

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_EVENT_H_
