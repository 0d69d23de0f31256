// A fast ns3::SimulatorImpl: it runs events in the order of ns-3's own, but its clock and queue need no virtual call.
// ns-3's models (TCP) run on it as on any other.
#ifndef WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_
#define WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_

#include <ns3/event-id.h>
#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/simulator-impl.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "core/sim_time.h"

namespace weir::sim {

// Single-threaded. Events of the same time are executed in the order in which they were scheduled.
class EventEngine final : public ns3::SimulatorImpl {
 public:
  // Limit of events at one time. Time would never advance for TCP over a path with neither a delay nor a capacity.
  static constexpr int64_t kMaxEventsAtOnce = 50'000;

  static ns3::TypeId GetTypeId();
  EventEngine();
  ~EventEngine() override;
  EventEngine(const EventEngine&) = delete;
  EventEngine& operator=(const EventEngine&) = delete;

  // The engine that ns-3 uses; null while it uses another simulator or none.
  static EventEngine* Current() { return current_; }

  SimTime now() const { return now_; }
  // `time` must not be in the past. Takes over one reference to the event.
  void ScheduleAt(SimTime time, ns3::EventImpl* event) { Push(time, context_, event); }

  // For hosts with their own clock. next_time() is kNever if there is no event. RunUntil() executes the events due by
  // `time` and then sets the engine's time to it, unless an event has stopped the engine.
  SimTime next_time() const { return events_.empty() ? kNever : events_.front().time; }
  void RunUntil(SimTime time);

  // See ns-3's documentation.
  void Destroy() override;
  bool IsFinished() const override { return events_.empty() || stopped_; }
  void Stop() override { stopped_ = true; }
  // The return type differs between versions of ns-3.
  using StopResult = decltype(std::declval<ns3::SimulatorImpl&>().Stop(std::declval<const ns3::Time&>()));
  StopResult Stop(const ns3::Time& delay) override;
  ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override;
  void ScheduleWithContext(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) override;
  ns3::EventId ScheduleNow(ns3::EventImpl* event) override;
  ns3::EventId ScheduleDestroy(ns3::EventImpl* event) override;
  void Remove(const ns3::EventId& id) override;
  void Cancel(const ns3::EventId& id) override;
  bool IsExpired(const ns3::EventId& id) const override;
  void Run() override;
  ns3::Time Now() const override { return ns3::TimeStep(static_cast<uint64_t>(now_.ns())); }
  ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
  ns3::Time GetMaximumSimulationTime() const override;
  // Does nothing: the engine has its own queue.
  void SetScheduler(ns3::ObjectFactory) override {}
  uint32_t GetSystemId() const override { return 0; }
  uint32_t GetContext() const override { return context_; }
  uint64_t GetEventCount() const override { return executed_; }

 private:
  struct Pending {
    SimTime time;
    uint32_t uid;
    uint32_t context;
    ns3::EventImpl* event;
  };
  // Orders a heap whose front is the next event.
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const {
      return a.time != b.time ? a.time > b.time : a.uid > b.uid;
    }
  };

  void DoDispose() override;
  void ExecuteNext();
  void Push(SimTime time, uint32_t context, ns3::EventImpl* event) {
    events_.push_back({time, next_uid_++, context, event});
    std::push_heap(events_.begin(), events_.end(), Later());
  }

  inline static EventEngine* current_ = nullptr;

  std::vector<Pending> events_;
  std::list<ns3::EventId> at_destruction_;
  SimTime now_ = kTimeZero;
  // Uid of the event in execution.
  uint32_t uid_ = ns3::EventId::UID::INVALID;
  uint32_t next_uid_ = ns3::EventId::UID::VALID;
  uint32_t context_;
  uint64_t executed_ = 0;
  int64_t events_at_once_ = 0;
  bool stopped_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_
