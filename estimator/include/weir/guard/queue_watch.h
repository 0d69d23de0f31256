// Whether the path shows a queue just now, for the guard: quicker and plainer than what a policy sees.
#ifndef WEIR_GUARD_QUEUE_WATCH_H_
#define WEIR_GUARD_QUEUE_WATCH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "weir/arrival/arrival.h"
#include "weir/arrival/delay_noise.h"
#include "weir/units.h"

namespace weir {

enum class QueueSign : uint8_t {
  kUnknown,  // nothing has arrived for some tens of milliseconds
  kNone,
  kQueue,
};

// There is no queue when a packet of the last 25 to 50 ms waited less than 2 ms and 1.5 times the delay noise (40 ms at
// most), and of the packets of the last 100 to 200 ms less than 20 %, or less than four, were lost: of the few packets
// that a call begins with, random loss easily hits two.
class QueueWatch {
 public:
  // Lost packets; fewer may be chance.
  static constexpr int64_t kFewestLost = 4;

  struct Fates {
    int64_t received = 0;
    int64_t lost = 0;

    // Lost by sent, 0 to 1.
    double LossRatio() const;
    void Add(const Fates& other);
  };
  struct Second {
    DataSize size = DataSize::Zero();
    Fates fates;
  };

  void OnArrival(const Arrival& arrival);
  // `now` must not be before that of an earlier call.
  QueueSign Look(Timestamp now);
  // Whether the latest packet, however old, waited longer than that, or packets were lost before it.
  bool LatestWaited() const { return latest_waited_; }
  // Whether each packet of the last 25 to 50 ms waited for `delay` above that noise; not when there is none. As of the
  // latest `Look`.
  bool WaitsFor(TimeDelta delay) const;
  // Whether delays and losses come that no queue explains: a delay noise of 5 ms, or 1 % of loss in the last ten
  // seconds. As of the latest `Look` or arrival.
  bool IsNoisy() const;
  // Of the last ten seconds, over whole seconds as of the latest `Look` or arrival; zero before there is one.
  DataRate HighestReceiveRate() const;
  // Of the latest whole second, likewise.
  DataRate LatestReceiveRate() const;
  // Lost by sent, 0 to 1, likewise.
  double LatestLossRatio() const;
  // The lowest of the last ten seconds, likewise: what the path loses whatever is sent.
  double LowestLossRatio() const;
  // The last ten whole seconds, in no order, likewise; empty ones stand for those before the first packet.
  std::span<const Second> seconds() const { return seconds_; }
  // Of the latest whole second, likewise.
  const Second& latest_second() const { return seconds_[(whole_seconds_ + kSeconds - 1) % kSeconds]; }
  // Since the first packet.
  size_t whole_seconds() const { return whole_seconds_; }

 private:
  static constexpr int kTicksASlot = 4;
  static constexpr int kSlotsASecond = 10;
  static constexpr size_t kSeconds = 10;

  // 100 ms.
  struct Slot {
    TimeDelta smallest_delay = TimeDelta::PlusInfinity();
    Fates fates;
  };
  TimeDelta SmallestDelay() const { return std::min(smallest_delays_[0], smallest_delays_[1]); }
  double NoiseAllowanceSeconds() const;
  bool IsQueue(TimeDelta delay) const;
  void Advance(Timestamp now);
  void CloseSlot();

  // A tick is 25 ms; all counting begins with the first packet.
  Timestamp tick_start_ = Timestamp::MinusInfinity();
  int64_t ticks_ = 0;
  // Of the current tick and of the one before it.
  std::array<TimeDelta, 2> smallest_delays_ = {TimeDelta::PlusInfinity(), TimeDelta::PlusInfinity()};
  // The current slot and the one before it.
  std::array<Slot, 2> slots_;
  DelayNoise noise_;
  bool latest_waited_ = false;
  // The current second, and the last whole ones.
  Second second_;
  std::array<Second, kSeconds> seconds_;
  size_t whole_seconds_ = 0;
};

}  // namespace weir

#endif  // WEIR_GUARD_QUEUE_WATCH_H_
