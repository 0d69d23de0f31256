// A call in simulated time with the estimator at the sender: it sends exactly what it is allowed to, through a
// drop-tail bottleneck, and the receiver answers every 50 ms with what has come.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_
#define WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "weir/send_side_estimator.h"

namespace weir {

struct TestSendSidePath {
  DataRate capacity = DataRate::KilobitsPerSecond(1500);
  TimeDelta one_way_delay = TimeDelta::Millis(25);
  TimeDelta queue = TimeDelta::Millis(300);
  // Delays after which feedback is passed in; none: it is lost.
  std::function<std::vector<TimeDelta>(TimeDelta)> feedback = [](TimeDelta) {
    return std::vector<TimeDelta>{TimeDelta::Zero()};
  };
  // Changes a message before it is sent.
  std::function<void(TimeDelta, std::vector<PacketFeedback>&)> change = [](TimeDelta, std::vector<PacketFeedback>&) {};
  // From then on the receiver acknowledges each packet in time, whatever the path did with it.
  TimeDelta optimistic_from = TimeDelta::PlusInfinity();
  uint16_t first_sequence_number = 0;
  // The receiver's clock minus the sender's.
  TimeDelta clock_offset = TimeDelta::Seconds(12'345);
};

class TestSendSideCall {
 public:
  TestSendSideCall(SendSideEstimator& estimator, TestSendSidePath path)
      : estimator_(estimator), path_(std::move(path)), sequence_number_(path_.first_sequence_number) {}

  void RunUntil(TimeDelta end) {
    while (true) {
      const Timestamp next_feedback = under_way_.empty() ? Timestamp::PlusInfinity() : under_way_.front().first;
      const Timestamp timeout = std::max(estimator_.next_timeout(), now_);
      const Timestamp next = std::min({next_send_, next_report_, next_feedback, timeout});
      if (next > kStart + end) break;
      now_ = next;
      if (next == next_feedback) {
        estimator_.OnTransportFeedback(under_way_.front().second, now_);
        under_way_.erase(under_way_.begin());
      } else if (next == timeout) {
        estimator_.OnTimeout(now_);
      } else if (next == next_report_) {
        Report();
      } else {
        Send();
      }
      lowest_ = std::min(lowest_, estimator_.target_rate().target_rate);
    }
  }

  DataRate ReceiveRate(TimeDelta from, TimeDelta to) const {
    DataSize sum = DataSize::Zero();
    for (const Delivery& delivery : deliveries_) {
      if (delivery.at >= from && delivery.at < to) sum += delivery.size;
    }
    return sum / (to - from);
  }
  TimeDelta MedianDelay(TimeDelta from, TimeDelta to) const {
    std::vector<TimeDelta> delays;
    for (const Delivery& delivery : deliveries_) {
      if (delivery.at >= from && delivery.at < to) delays.push_back(delivery.one_way_delay);
    }
    if (delays.empty()) return TimeDelta::PlusInfinity();
    std::ranges::sort(delays);
    return delays[delays.size() / 2];
  }
  // The lowest rate since the last question.
  DataRate TakeLowestRate() { return std::exchange(lowest_, DataRate::PlusInfinity()); }

 private:
  static constexpr Timestamp kStart = Timestamp::Seconds(1000);
  static constexpr TimeDelta kLongestInterval = TimeDelta::Millis(33);
  static constexpr TimeDelta kReportInterval = TimeDelta::Millis(50);
  static constexpr int64_t kTickUs = 250;

  struct Delivery {
    TimeDelta at;
    TimeDelta one_way_delay;
    DataSize size;
  };

  void Send() {
    // Media at a low rate sends smaller packets, not rarer ones.
    const DataRate rate = estimator_.target_rate().target_rate;
    const DataSize size = std::min(kFullPacket, rate * kLongestInterval);
    estimator_.OnSentPacket({.send_time = now_, .sequence_number = sequence_number_, .size = size});
    const TimeDelta wait = std::max(bottleneck_free_ - now_, TimeDelta::Zero());
    if (now_ - kStart >= path_.optimistic_from) {
      waiting_.push_back({sequence_number_, PacketFate::kReceived, now_ + path_.one_way_delay});
    } else if (wait > path_.queue) {
      waiting_.push_back({sequence_number_, PacketFate::kLost, Timestamp::PlusInfinity()});
    } else {
      bottleneck_free_ = now_ + wait + size / path_.capacity;
      const Timestamp arrival = bottleneck_free_ + path_.one_way_delay;
      waiting_.push_back({sequence_number_, PacketFate::kReceived, arrival});
      deliveries_.push_back({arrival - kStart, arrival - now_, size});
    }
    ++sequence_number_;
    next_send_ = now_ + size / rate;
  }

  // On all that has come, and what is missing before it.
  void Report() {
    next_report_ += kReportInterval;
    size_t end = 0;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i].receive_time <= now_) end = i + 1;
    }
    if (end == 0) return;
    std::vector<PacketFeedback> reports(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(end));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(end));
    for (PacketFeedback& report : reports) {
      const int64_t ticks = report.receive_time.us() / kTickUs;
      report.receive_time = Timestamp::Micros(ticks * kTickUs) + path_.clock_offset;
    }
    path_.change(now_ - kStart, reports);
    for (const TimeDelta later : path_.feedback(now_ - kStart)) {
      under_way_.emplace_back(now_ + path_.one_way_delay + later, reports);
    }
    std::ranges::stable_sort(under_way_, {}, [](const auto& one) { return one.first; });
  }

  SendSideEstimator& estimator_;
  TestSendSidePath path_;
  uint16_t sequence_number_;
  Timestamp now_ = kStart;
  Timestamp next_send_ = kStart;
  Timestamp next_report_ = kStart + kReportInterval;
  Timestamp bottleneck_free_ = kStart;
  DataRate lowest_ = DataRate::PlusInfinity();
  // At the receiver, or lost: not yet reported on.
  std::deque<PacketFeedback> waiting_;
  std::vector<std::pair<Timestamp, std::vector<PacketFeedback>>> under_way_;
  std::vector<Delivery> deliveries_;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_
