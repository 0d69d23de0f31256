// A call in simulated time: a sender that sends exactly what REMB allows, a drop-tail bottleneck, an estimator, and
// delayed feedback.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_CALL_H_
#define WEIR_TESTS_ESTIMATOR_TEST_CALL_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/remb_sender.h"

namespace weir {

// A packet that arrived; times count from the beginning of the call.
struct Delivery {
  TimeDelta at;
  TimeDelta one_way_delay;
  DataSize size;
};

class Deliveries : public std::vector<Delivery> {
 public:
  DataRate ReceiveRate(TimeDelta from, TimeDelta to) const {
    DataSize sum = DataSize::Zero();
    for (const Delivery& delivery : *this) {
      if (delivery.at >= from && delivery.at < to) sum += delivery.size;
    }
    return sum / (to - from);
  }
  // The `quantile` of the one-way delays of packets that arrived in the span; PlusInfinity if none did.
  TimeDelta Delay(double quantile, TimeDelta from, TimeDelta to) const {
    std::vector<TimeDelta> delays;
    for (const Delivery& delivery : *this) {
      if (delivery.at >= from && delivery.at < to) delays.push_back(delivery.one_way_delay);
    }
    if (delays.empty()) return TimeDelta::PlusInfinity();
    std::ranges::sort(delays);
    return delays[static_cast<size_t>(quantile * static_cast<double>(delays.size() - 1))];
  }
};

struct TestPath {
  // Capacity by time since the beginning; above 0.
  std::function<DataRate(TimeDelta)> capacity;
  TimeDelta one_way_delay = TimeDelta::Millis(25);
  // The longest queue, as time at the current capacity.
  TimeDelta queue = TimeDelta::Millis(300);
  // Maps a time since the beginning to when the bottleneck takes the next packet, later if it stops.
  std::function<TimeDelta(TimeDelta)> takes = [](TimeDelta time) { return time; };
  // Maps the time at which a packet leaves the bottleneck to when it continues, not earlier. Order is kept.
  std::function<TimeDelta(TimeDelta)> goes_on = [](TimeDelta time) { return time; };
  // True while the sender sends nothing.
  std::function<bool(TimeDelta)> paused = [](TimeDelta) { return false; };
  // The media's highest rate, by time since the beginning.
  std::function<DataRate(TimeDelta)> max_media_rate = [](TimeDelta) { return DataRate::KilobitsPerSecond(100'000); };
  // Video frames per second, each of which is sent as one burst: at 2.5 times the rate, as Chromium paces, a frame
  // lasts 13 ms, and up to 40 ms leave at once. If 0, full packets are sent at equal intervals.
  int64_t frames_per_second = 0;
  // True if packets, or feedback, sent at that time are lost.
  std::function<bool(TimeDelta)> lost = [](TimeDelta) { return false; };
  std::function<bool(TimeDelta)> feedback_lost = [](TimeDelta) { return false; };
  // The delay of feedback.
  TimeDelta feedback_delay = TimeDelta::Millis(25);
  // Changes a packet at the receiver before the estimator gets it.
  std::function<void(TimeDelta, PacketArrival&)> change = [](TimeDelta, PacketArrival&) {};
};

class TestCall {
 public:
  struct Target {
    TimeDelta at;
    Estimate estimate;
  };

  TestCall(BandwidthEstimator& estimator, TestPath path) : estimator_(estimator), path_(std::move(path)) {}

  void RunUntil(TimeDelta end) {
    while (true) {
      const Timestamp next_arrival = in_flight_.empty() ? Timestamp::PlusInfinity() : in_flight_.front().arrival_time;
      const Timestamp next_feedback = feedback_.empty() ? Timestamp::PlusInfinity() : feedback_.front().first;
      const Timestamp timeout = std::max(remb_sender_.next_timeout(estimator_), now_);
      const Timestamp next = std::min({next_send_, next_arrival, next_feedback, timeout});
      if (next > kStart + end) break;
      now_ = std::max(now_, next);
      if (next == next_arrival) {
        Deliver();
      } else if (next == next_feedback) {
        send_rate_ = feedback_.front().second;
        feedback_.pop_front();
      } else if (next == timeout) {
        Timeout();
      } else {
        Send();
      }
    }
    now_ = std::max(now_, kStart + end);
  }

  const Deliveries& deliveries() const { return deliveries_; }
  const std::vector<Target>& feedback() const { return feedback_sent_; }
  int64_t lost() const { return lost_; }

  DataRate ReceiveRate(TimeDelta from, TimeDelta to) const { return deliveries_.ReceiveRate(from, to); }
  TimeDelta Delay(double quantile, TimeDelta from, TimeDelta to) const { return deliveries_.Delay(quantile, from, to); }

 private:
  static constexpr Timestamp kStart = Timestamp::Seconds(1000);
  static constexpr int64_t kUdpIpOverhead = 28;
  static constexpr uint32_t kHeaderSize = 20;

  void Send() {
    const TimeDelta time = now_ - kStart;
    const DataRate rate = std::min(send_rate_, path_.max_media_rate(time));
    if (path_.paused(time)) {
      next_send_ = now_ + TimeDelta::Millis(1);
      return;
    }
    if (path_.frames_per_second == 0) {
      SendPacket(kFullPacket);
      next_send_ = now_ + kFullPacket / rate;
      return;
    }
    const TimeDelta interval = TimeDelta::SecondsF(1.0 / static_cast<double>(path_.frames_per_second));
    const int64_t frame_bytes = (rate * interval).bytes();
    const int64_t packets = (frame_bytes + kFullPacket.bytes() - 1) / kFullPacket.bytes();
    for (int64_t i = 0; i < packets; ++i) SendPacket(DataSize::Bytes(frame_bytes / packets));
    next_send_ = now_ + interval;
  }

  void SendPacket(DataSize size) {
    const TimeDelta time = now_ - kStart;
    PacketArrival packet = stream_.Next(now_, TimeDelta::Zero(), static_cast<uint32_t>(size.bytes()) - kHeaderSize);
    const TimeDelta wait = std::max(bottleneck_free_ - now_, TimeDelta::Zero());
    if (wait > path_.queue || path_.lost(time)) {
      ++lost_;
      return;
    }
    const TimeDelta transmission = DataSize::Bytes(size.bytes() + kUdpIpOverhead) / path_.capacity(time);
    bottleneck_free_ = kStart + path_.takes(time + wait) + transmission;
    goes_on_ = std::max(goes_on_, kStart + path_.goes_on(bottleneck_free_ - kStart));
    packet.arrival_time = goes_on_ + path_.one_way_delay;
    sent_.push_back(now_);
    in_flight_.push_back(packet);
  }

  void Deliver() {
    PacketArrival packet = in_flight_.front();
    in_flight_.pop_front();
    deliveries_.push_back({now_ - kStart, now_ - sent_.front(), packet.size()});
    sent_.pop_front();
    path_.change(now_ - kStart, packet);
    estimator_.OnPacket(packet);
  }

  void Timeout() {
    if (!remb_sender_.OnTimeout(estimator_, now_).remb_due) return;
    feedback_sent_.push_back({now_ - kStart, estimator_.latest()});
    if (path_.feedback_lost(now_ - kStart)) return;
    feedback_.emplace_back(now_ + path_.feedback_delay, estimator_.latest().target_rate);
  }

  BandwidthEstimator& estimator_;
  RembSender remb_sender_;
  TestPath path_;
  TestStream stream_;
  Timestamp now_ = kStart;
  Timestamp next_send_ = kStart;
  Timestamp bottleneck_free_ = kStart;
  Timestamp goes_on_ = kStart;
  DataRate send_rate_ = DataRate::KilobitsPerSecond(300);
  std::deque<PacketArrival> in_flight_;
  std::deque<Timestamp> sent_;
  std::deque<std::pair<Timestamp, DataRate>> feedback_;
  Deliveries deliveries_;
  std::vector<Target> feedback_sent_;
  int64_t lost_ = 0;
};

inline std::function<DataRate(TimeDelta)> Steady(DataRate rate) {
  return [rate](TimeDelta) { return rate; };
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_CALL_H_
