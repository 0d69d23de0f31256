#include "core/event_engine.h"

#include <ns3/simulator.h>

#include <limits>
#include <string>

#include "core/step_limit.h"
#include "programs/input.h"

namespace weir::sim {

NS_OBJECT_ENSURE_REGISTERED(EventEngine);

ns3::TypeId EventEngine::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("weir::sim::EventEngine").SetParent<ns3::SimulatorImpl>().AddConstructor<EventEngine>();
  return id;
}

EventEngine::EventEngine() : context_(ns3::Simulator::NO_CONTEXT) {
  current_ = this;
  steps_left = kMaxSteps;
}

EventEngine::~EventEngine() {
  current_ = nullptr;
  steps_left = kUnlimitedSteps;
}

void EventEngine::DoDispose() {
  for (const Pending& pending : events_) pending.event->Unref();
  events_.clear();
  ns3::SimulatorImpl::DoDispose();
}

void EventEngine::Destroy() {
  while (!at_destruction_.empty()) {
    const ns3::Ptr<ns3::EventImpl> event(at_destruction_.front().PeekEventImpl());
    at_destruction_.pop_front();
    if (!event->IsCancelled()) event->Invoke();
  }
}

EventEngine::StopResult EventEngine::Stop(const ns3::Time& delay) {
  return static_cast<StopResult>(ns3::Simulator::Schedule(delay, static_cast<void (*)()>(&ns3::Simulator::Stop)));
}

ns3::EventId EventEngine::Schedule(const ns3::Time& delay, ns3::EventImpl* event) {
  const SimTime time = now_ + SimDuration::Nanos(delay.GetTimeStep());
  const uint32_t uid = next_uid_;
  Push(time, context_, event);
  return {ns3::Ptr<ns3::EventImpl>(event), static_cast<uint64_t>(time.ns()), context_, uid};
}

void EventEngine::ScheduleWithContext(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) {
  Push(now_ + SimDuration::Nanos(delay.GetTimeStep()), context, event);
}

ns3::EventId EventEngine::ScheduleNow(ns3::EventImpl* event) { return Schedule(ns3::Time(0), event); }

ns3::EventId EventEngine::ScheduleDestroy(ns3::EventImpl* event) {
  const ns3::EventId id(ns3::Ptr<ns3::EventImpl>(event, false), static_cast<uint64_t>(now_.ns()), context_,
                        ns3::EventId::UID::DESTROY);
  at_destruction_.push_back(id);
  return id;
}

void EventEngine::Remove(const ns3::EventId& id) {
  if (id.GetUid() == ns3::EventId::UID::DESTROY) {
    at_destruction_.remove(id);
    return;
  }
  if (IsExpired(id)) return;
  id.PeekEventImpl()->Cancel();
  const auto found = std::ranges::find(events_, id.GetUid(), &Pending::uid);
  found->event->Unref();
  events_.erase(found);
  std::make_heap(events_.begin(), events_.end(), Later());
}

void EventEngine::Cancel(const ns3::EventId& id) {
  if (!IsExpired(id)) id.PeekEventImpl()->Cancel();
}

bool EventEngine::IsExpired(const ns3::EventId& id) const {
  if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled()) return true;
  if (id.GetUid() == ns3::EventId::UID::DESTROY) return std::ranges::find(at_destruction_, id) == at_destruction_.end();
  const SimTime time = SimTime::Nanos(static_cast<int64_t>(id.GetTs()));
  return time < now_ || (time == now_ && id.GetUid() <= uid_);
}

void EventEngine::Run() {
  stopped_ = false;
  while (!IsFinished()) ExecuteNext();
}

void EventEngine::RunUntil(SimTime time) {
  while (!IsFinished() && events_.front().time <= time) ExecuteNext();
  if (!stopped_) now_ = time;
}

void EventEngine::ExecuteNext() {
  const Pending next = events_.front();
  events_at_once_ = next.time == now_ ? events_at_once_ + 1 : 0;
  if (events_at_once_ > kMaxEventsAtOnce) {
    throw ProgramError("after " + std::to_string(now_.ns() / 1'000'000) +
                       " ms of simulated time it stands still; give the path a delay or a capacity");
  }
  SpendSteps(1);
  std::pop_heap(events_.begin(), events_.end(), Later());
  events_.pop_back();
  // Releases the event even if it throws.
  const ns3::Ptr<ns3::EventImpl> event(next.event, false);
  now_ = next.time;
  uid_ = next.uid;
  context_ = next.context;
  ++executed_;
  event->Invoke();
}

ns3::Time EventEngine::GetDelayLeft(const ns3::EventId& id) const {
  return ns3::TimeStep(IsExpired(id) ? 0 : id.GetTs() - static_cast<uint64_t>(now_.ns()));
}

ns3::Time EventEngine::GetMaximumSimulationTime() const {
  return ns3::TimeStep(static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

}  // namespace weir::sim
