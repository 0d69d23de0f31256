// Arrivals that feedback has reported, in their order.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_ARRIVAL_QUEUE_H_
#define WEIR_ESTIMATOR_SRC_SENDER_ARRIVAL_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "weir/units.h"

namespace weir {

// Sorts the arrivals of a feedback message by their times, which need not rise with sequence numbers, and limits how
// far they precede the latest one. Times are on the sender's clock and exclude its pauses. Allocates only at
// construction.
class ArrivalQueue {
 public:
  // 16 bytes.
  struct Entry {
    Timestamp arrival_time = Timestamp::MinusInfinity();
    int64_t number : 62 = 0;  // sequence number
    bool has_delay : 1 = true;
    bool is_marked : 1 = false;  // arrived with the ECN marking CE
  };
  static constexpr size_t kCapacity = 1024;
  // The estimator would take an arrival that precedes the latest one by more for a step of the clock.
  static constexpr TimeDelta kMaxAge = TimeDelta::Seconds(1);

  ArrivalQueue() { entries_.reserve(kCapacity); }

  // Called when the estimator begins.
  void Start(Timestamp now) { latest_ = reported_at_ = now; }
  // Called for each arrival that feedback shows at `now`, also for those that are not added.
  void OnArrival(Timestamp arrival_time, Timestamp now) {
    if (arrival_time <= latest_) return;
    latest_ = arrival_time;
    reported_at_ = now;
  }
  // The latest arrival of all messages, and when it was reported.
  Timestamp latest() const { return latest_; }
  Timestamp reported_at() const { return reported_at_; }

  bool is_full() const { return entries_.size() == kCapacity; }
  // The queue must not be full. An arrival that is too old loses its delay.
  void Add(Entry entry) {
    const Timestamp oldest = latest_ - kMaxAge;
    if (entry.arrival_time < oldest) {
      entry.arrival_time = oldest;
      entry.has_delay = false;
    }
    entries_.push_back(entry);
  }
  // Returns the entries in the order of time. Clear() drops them.
  std::span<const Entry> Sorted() {
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      return std::pair(a.arrival_time, +a.number) < std::pair(b.arrival_time, +b.number);
    });
    return entries_;
  }
  void Clear() { entries_.clear(); }

 private:
  std::vector<Entry> entries_;
  Timestamp latest_ = Timestamp::MinusInfinity();
  Timestamp reported_at_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_ARRIVAL_QUEUE_H_
