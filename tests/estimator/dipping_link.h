// A link whose capacity changes, and packets of 1 ms that pass it in order.
#ifndef WEIR_TESTS_ESTIMATOR_DIPPING_LINK_H_
#define WEIR_TESTS_ESTIMATOR_DIPPING_LINK_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "weir/units.h"

namespace weir {

class DippingLink {
 public:
  struct Packet {
    TimeDelta arrival;
    TimeDelta delay;
    DataSize size;
    int lost_before;
  };
  using Capacity = std::function<DataRate(TimeDelta)>;

  // Packets that would wait for more than `queue` bytes are lost.
  explicit DippingLink(Capacity capacity, DataSize queue = DataSize::PlusInfinity())
      : capacity_(std::move(capacity)), queue_(queue) {}

  // Sends what `rate` has in the next millisecond, and delivers. Returns the packets that arrived.
  std::deque<Packet> Pass(DataRate rate) {
    if (queued_ <= queue_) {
      waiting_.push_back({now_, rate * kStep, std::exchange(lost_, 0)});
      queued_ += waiting_.back().size;
    } else {
      ++lost_;
    }
    now_ += kStep;
    credit_ += capacity_(now_) * kStep;
    std::deque<Packet> arrived;
    while (!waiting_.empty() && waiting_.front().size <= credit_) {
      const Sent& sent = waiting_.front();
      credit_ -= sent.size;
      queued_ -= sent.size;
      arrived.push_back({now_, now_ - kStep - sent.time, sent.size, sent.lost_before});
      waiting_.pop_front();
    }
    if (waiting_.empty()) credit_ = DataSize::Zero();
    return arrived;
  }
  TimeDelta now() const { return now_; }

 private:
  struct Sent {
    TimeDelta time;
    DataSize size;
    int lost_before;
  };
  static constexpr TimeDelta kStep = TimeDelta::Millis(1);

  const Capacity capacity_;
  const DataSize queue_;
  TimeDelta now_ = TimeDelta::Zero();
  DataSize credit_ = DataSize::Zero();
  DataSize queued_ = DataSize::Zero();
  std::deque<Sent> waiting_;
  int lost_ = 0;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_DIPPING_LINK_H_
