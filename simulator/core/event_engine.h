// ns-3's events, run in its order but without its price: a simulator of ours in the place that ns-3 has for one, whose
// clock and queue need no virtual call. ns-3's own models (TCP) run on it as on any other.
#ifndef WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_
#define WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_

#include <ns3/event-id.h>
#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/simulator-impl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <list>
#include <utility>
#include <vector>

namespace weir::sim {

// For one thread. Events of one time are executed in the order in which they were scheduled.
class EventEngine final : public ns3::SimulatorImpl {
 public:
  // The most events at one time. TCP over a path without delay and capacity never leaves its first nanosecond.
  static constexpr int64_t kMaxEventsAtOnce = 50'000;

  static ns3::TypeId GetTypeId();
  EventEngine();
  ~EventEngine() override;
  EventEngine(const EventEngine&) = delete;
  EventEngine& operator=(const EventEngine&) = delete;

  // The one that ns-3 uses; null while it uses another simulator, or none.
  static EventEngine* Current() { return current_; }

  int64_t now_ns() const { return now_ns_; }
  // `time_ns` is not in the past. Takes over one reference to the event.
  void ScheduleAt(int64_t time_ns, ns3::EventImpl* event) { Push(time_ns, context_, event); }

  // For a host with a clock of its own: the time of the next event, the largest number when there is none; and the
  // execution of what is due by `time_ns`, which is then the engine's time unless an event stopped it.
  int64_t next_time_ns() const {
    return events_.empty() ? std::numeric_limits<int64_t>::max() : events_.front().time_ns;
  }
  void RunUntil(int64_t time_ns);

  // See ns-3's documentation.
  void Destroy() override;
  bool IsFinished() const override { return events_.empty() || stopped_; }
  void Stop() override { stopped_ = true; }
  // The type that it returns differs between versions of ns-3.
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
  ns3::Time Now() const override { return ns3::TimeStep(static_cast<uint64_t>(now_ns_)); }
  ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
  ns3::Time GetMaximumSimulationTime() const override;
  // It has a queue of its own.
  void SetScheduler(ns3::ObjectFactory) override {}
  uint32_t GetSystemId() const override { return 0; }
  uint32_t GetContext() const override { return context_; }
  uint64_t GetEventCount() const override { return executed_; }

 private:
  struct Pending {
    int64_t time_ns;
    uint32_t uid;
    uint32_t context;
    ns3::EventImpl* event;
  };
  // For a heap whose front is what is next.
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.uid > b.uid;
    }
  };

  void DoDispose() override;
  void ExecuteNext();
  void Push(int64_t time_ns, uint32_t context, ns3::EventImpl* event) {
    events_.push_back({time_ns, next_uid_++, context, event});
    std::push_heap(events_.begin(), events_.end(), Later());
  }

  inline static EventEngine* current_ = nullptr;

  std::vector<Pending> events_;
  std::list<ns3::EventId> at_destruction_;
  int64_t now_ns_ = 0;
  // The event that is executed.
  uint32_t uid_ = ns3::EventId::UID::INVALID;
  uint32_t next_uid_ = ns3::EventId::UID::VALID;
  uint32_t context_;
  uint64_t executed_ = 0;
  int64_t events_at_once_ = 0;
  bool stopped_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_EVENT_ENGINE_H_
