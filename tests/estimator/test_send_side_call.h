// A call in simulated time with the estimator at the sender: it sends exactly at the target, or layers of media with
// probes, through a drop-tail bottleneck, and the receiver sends feedback every 50 ms.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_
#define WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "test_call.h"
#include "weir/layer_allocator.h"
#include "weir/send_side_estimator.h"

namespace weir {

struct TestSendSidePath {
  DataRate capacity = DataRate::KilobitsPerSecond(1500);
  // Replaces `capacity` if set.
  std::function<DataRate(TimeDelta)> changing_capacity = {};
  TimeDelta one_way_delay = TimeDelta::Millis(25);
  // A time, and the increase of the one-way delay from then on.
  std::pair<TimeDelta, TimeDelta> detour = {TimeDelta::PlusInfinity(), TimeDelta::Zero()};
  TimeDelta queue = TimeDelta::Millis(300);
  // Extra delays of feedback, one for each copy that arrives; it is lost if there are none.
  std::function<std::vector<TimeDelta>(TimeDelta)> feedback = [](TimeDelta) {
    return std::vector<TimeDelta>{TimeDelta::Zero()};
  };
  // Changes a message before it is sent.
  std::function<void(TimeDelta, std::vector<PacketFeedback>&)> change = [](TimeDelta, std::vector<PacketFeedback>&) {};
  // From then on the receiver acknowledges each packet in time, whatever the path does with it.
  TimeDelta optimistic_from = TimeDelta::PlusInfinity();
  // Rates of layers, lowest first, of which LayerAllocator chooses one as the only media. If empty, filler is sent.
  std::vector<DataRate> layers;
  // The rate that a layer sends, as a share of the rate that it declares.
  double sent_share = 1;
  // If above zero, the filler desires this rate and sends probe clusters.
  DataRate desired_rate = DataRate::Zero();
  // The number of layers that the media wants.
  std::function<size_t(TimeDelta)> wanted_layers = [](TimeDelta) { return size_t{100}; };
  // Nothing is sent from the first time to the second.
  std::pair<TimeDelta, TimeDelta> pause = {TimeDelta::PlusInfinity(), TimeDelta::PlusInfinity()};
  // The host sends probe clusters.
  bool probes = true;
  // The receiver's clock minus the sender's.
  TimeDelta clock_offset = TimeDelta::Seconds(12'345);
};

class TestSendSideCall {
 public:
  TestSendSideCall(SendSideEstimator& estimator, TestSendSidePath path)
      : estimator_(estimator), path_(std::move(path)) {}

  void RunUntil(TimeDelta end) {
    while (true) {
      const Timestamp next_feedback = under_way_.empty() ? Timestamp::PlusInfinity() : under_way_.front().first;
      const Timestamp next_probe = probes_.empty() ? Timestamp::PlusInfinity() : probes_.front().at;
      const Timestamp timeout = std::max(estimator_.next_timeout(), now_);
      const Timestamp next = std::min({next_send_, next_report_, next_feedback, next_probe, timeout});
      if (next > kStart + end) break;
      now_ = next;
      if (next == next_feedback) {
        estimator_.OnTransportFeedback(under_way_.front().second, now_);
        under_way_.erase(under_way_.begin());
        ChooseLayer();
      } else if (next == timeout) {
        estimator_.OnTimeout(now_);
        ChooseLayer();
      } else if (next == next_report_) {
        Report();
      } else if (next == next_probe) {
        SendPacket(probes_.front().size, PacketKind::kProbe, probes_.front().cluster);
        probes_.pop_front();
      } else {
        Send();
      }
      lowest_ = std::min(lowest_, estimator_.target_rate().target_rate);
    }
  }

  DataRate ReceiveRate(TimeDelta from, TimeDelta to) const { return deliveries_.ReceiveRate(from, to); }
  TimeDelta MedianDelay(TimeDelta from, TimeDelta to) const { return deliveries_.Delay(0.5, from, to); }
  // When each layer was chosen.
  const std::vector<std::pair<TimeDelta, size_t>>& layer_changes() const { return layer_changes_; }
  double probe_share() const { return probe_size_ / sent_size_; }
  TimeDelta longest_queue() const { return longest_queue_; }
  // Returns the lowest target since the last call.
  DataRate TakeLowestRate() { return std::exchange(lowest_, DataRate::PlusInfinity()); }

 private:
  static constexpr Timestamp kStart = Timestamp::Seconds(1000);
  static constexpr TimeDelta kLongestInterval = TimeDelta::Millis(33);
  static constexpr TimeDelta kReportInterval = TimeDelta::Millis(50);
  static constexpr int64_t kTickUs = 250;

  void Send() {
    if (now_ - kStart >= path_.pause.first && now_ - kStart < path_.pause.second) {
      next_send_ = kStart + path_.pause.second;
      return;
    }
    // Media at a low rate sends smaller packets rather than fewer.
    const DataRate rate = MediaRate();
    const DataSize size = std::min(kFullPacket, rate * kLongestInterval);
    SendPacket(size, PacketKind::kVideo, probes_.empty() ? 0 : probes_.front().cluster);
    next_send_ = now_ + size / rate;
    if (path_.layers.empty()) Probe();
  }

  DataRate MediaRate() const {
    return path_.layers.empty() ? estimator_.target_rate().target_rate : path_.layers[layer_] * path_.sent_share;
  }

  void SendPacket(DataSize size, PacketKind kind, int32_t cluster) {
    estimator_.OnSentPacket({.send_time = now_,
                             .sequence_number = sequence_number_,
                             .kind = kind,
                             .size = size,
                             .probe_cluster_id = cluster});
    sent_size_ += size;
    if (kind == PacketKind::kProbe) probe_size_ += size;
    const TimeDelta wait = std::max(bottleneck_free_ - now_, TimeDelta::Zero());
    if (now_ - kStart >= path_.optimistic_from) {
      waiting_.push_back({sequence_number_, PacketFate::kReceived, now_ + path_.one_way_delay});
    } else if (wait > path_.queue) {
      waiting_.push_back({sequence_number_, PacketFate::kLost, Timestamp::PlusInfinity()});
    } else {
      longest_queue_ = std::max(longest_queue_, wait);
      const DataRate capacity = path_.changing_capacity ? path_.changing_capacity(now_ - kStart) : path_.capacity;
      bottleneck_free_ = now_ + wait + size / capacity;
      const TimeDelta detour = now_ - kStart >= path_.detour.first ? path_.detour.second : TimeDelta::Zero();
      const Timestamp arrival = bottleneck_free_ + path_.one_way_delay + detour;
      waiting_.push_back({sequence_number_, PacketFate::kReceived, arrival});
      deliveries_.push_back({arrival - kStart, arrival - now_, size});
    }
    ++sequence_number_;
  }

  // Chooses a layer as an SFU does for one subscriber.
  void ChooseLayer() {
    if (path_.layers.empty()) {
      if (!path_.desired_rate.IsZero()) Desire({path_.desired_rate, DataRate::Zero()});
      Probe();
      return;
    }
    const size_t wanted = std::min(path_.wanted_layers(now_ - kStart), path_.layers.size());
    std::vector<MediaLayer> layers;
    for (const DataRate rate : std::span(path_.layers).first(wanted)) layers.push_back({.rate = rate});
    Check(allocator_.SetStreams(std::array{MediaStream{.id = 1, .may_pause = false, .layers = layers}}));
    const int chosen = allocator_.Allocate(estimator_.target_rate().target_rate, now_).front().layer;
    if (chosen != static_cast<int>(layer_)) {
      layer_ = static_cast<size_t>(chosen);
      layer_changes_.emplace_back(now_ - kStart, layer_);
    }
    if (path_.probes) Desire({allocator_.desired_rate(), allocator_.next_rate()});
  }

  void Desire(const DesiredRate& desired) {
    Check(estimator_.SetDesiredRate(desired));
    Probe();
  }

  void Probe() {
    if (const auto cluster = estimator_.TakeProbeCluster()) AddProbe(*cluster);
  }

  static void Check(const std::optional<Error>& error) {
    if (error) throw std::logic_error(error->message);
  }

  // Adds evenly spaced packets that raise the media's rate to the cluster's. At the start, media has too few packets to
  // count.
  void AddProbe(const ProbeClusterConfig& cluster) {
    const bool starts = path_.layers.empty() && path_.desired_rate.IsZero();
    const DataRate added = starts ? cluster.target_data_rate : cluster.target_data_rate - MediaRate();
    const DataSize size = std::max(added, DataRate::Zero()) * cluster.target_duration;
    const int64_t packets = std::max<int64_t>(cluster.target_probe_count, size.bytes() / kFullPacket.bytes() + 1);
    for (int64_t i = 0; i < packets; ++i) {
      probes_.push_back({now_ + TimeDelta::Micros(cluster.target_duration.us() * i / packets),
                         DataSize::Bytes(size.bytes() / packets), cluster.id});
    }
  }

  // Reports on all packets that have arrived, and on those missing before them.
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
  int64_t sequence_number_ = 0;
  Timestamp now_ = kStart;
  Timestamp next_send_ = kStart;
  Timestamp next_report_ = kStart + kReportInterval;
  Timestamp bottleneck_free_ = kStart;
  DataRate lowest_ = DataRate::PlusInfinity();
  struct ProbePacket {
    Timestamp at;
    DataSize size;
    int32_t cluster;
  };
  std::deque<ProbePacket> probes_;
  LayerAllocator allocator_ = LayerAllocator::Create().value();
  size_t layer_ = 0;
  std::vector<std::pair<TimeDelta, size_t>> layer_changes_;
  DataSize sent_size_ = DataSize::Zero();
  DataSize probe_size_ = DataSize::Zero();
  TimeDelta longest_queue_ = TimeDelta::Zero();
  // Sent packets that are not yet reported on.
  std::deque<PacketFeedback> waiting_;
  std::vector<std::pair<Timestamp, std::vector<PacketFeedback>>> under_way_;
  Deliveries deliveries_;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_SEND_SIDE_CALL_H_
