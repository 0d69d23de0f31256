// Simulated time, allocation-free events and timers, on top of ns-3. ns-3 counts nanoseconds from 0 in a signed 64-bit
// integer; rate controllers count microseconds.
#ifndef WEIR_SIMULATOR_CORE_EVENT_H_
#define WEIR_SIMULATOR_CORE_EVENT_H_

#include <ns3/event-impl.h>
#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/simulator.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/event_engine.h"
#include "weir/units.h"

namespace weir::sim {

// ns-3's default resolution is 1 ns, and nothing here changes it.
inline int64_t NowNs() {
  const EventEngine* const engine = EventEngine::Current();
  return engine ? engine->now_ns() : ns3::Simulator::Now().GetTimeStep();
}

// `time_ns` must not be in the past.
inline void ScheduleAt(int64_t time_ns, const ns3::Ptr<ns3::EventImpl>& event) {
  EventEngine* const engine = EventEngine::Current();
  if (!engine) {
    ns3::Simulator::Schedule(ns3::TimeStep(time_ns - NowNs()), event);
    return;
  }
  event->Ref();
  engine->ScheduleAt(time_ns, ns3::PeekPointer(event));
}

// Calls `(owner->*kMethod)()` at every scheduled time. The owner must outlive the simulation's last event. Calls cannot
// be canceled: a method whose call may be obsolete checks the owner's state.
template <class Owner, void (Owner::*kMethod)()>
class MemberEvent {
 public:
  explicit MemberEvent(Owner* owner) : impl_(ns3::Create<Impl>(owner)) {}

  // `time_ns` must not be in the past.
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

// Makes the next simulation run on an EventEngine and destroys the previous one. Call before anything is scheduled.
inline void UseEventEngine() {
  ns3::Simulator::Destroy();
  ns3::Simulator::SetImplementation(ns3::CreateObject<EventEngine>());
}

inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();

inline Timestamp ToTimestamp(int64_t time_ns) { return Timestamp::Micros(time_ns / 1000); }

inline int64_t ToSimulatedNs(Timestamp time) {
  if (time.us() >= kNeverNs / 1000) return kNeverNs;
  return time.us() > 0 ? time.us() * 1000 : 0;
}

// The duration of `bits` (>= 0) at a rate (> 0), or the rate of `bits` over a duration (> 0); rounded down.
inline int64_t BitsOver(int64_t bits, int64_t rate_bps_or_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  // A 64-bit division is several times faster than a 128-bit one, and suffices for every single packet.
  if (bits <= std::numeric_limits<int64_t>::max() / kNsPerSecond) return bits * kNsPerSecond / rate_bps_or_ns;
  return static_cast<int64_t>(static_cast<__int128>(bits) * kNsPerSecond / rate_bps_or_ns);
}

// The transmission time of `size_bytes` at `rate_bps`, which must be positive; rounded down.
inline int64_t TransmissionNs(int64_t size_bytes, int64_t rate_bps) { return BitsOver(8 * size_bytes, rate_bps); }

// Calls `(owner->*kOnTimeout)()` once for each time that is set and not replaced. The owner must outlive the
// simulation's last event.
template <class Owner, void (Owner::*kOnTimeout)()>
class Timer {
 public:
  explicit Timer(Owner* owner) : owner_(owner), event_(this) {}
  ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces the time set before. A past time means now; kNeverNs stops the timer.
  void Set(int64_t time_ns) {
    time_ns_ = time_ns;
    if (event_ns_ > time_ns_) Schedule();  // else the pending event checks time_ns_
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
  // Time of the earliest pending event that counts. Events that Set() has superseded do nothing.
  int64_t event_ns_ = kNeverNs;
  MemberEvent<Timer, &Timer::OnEvent> event_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_EVENT_H_
