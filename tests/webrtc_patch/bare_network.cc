#include "bare_network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <utility>

#include "sender_controller.h"

namespace weir::bare {
namespace {

constexpr uint32_t kPayloadBytes = 1200;
// RTP header and its extensions.
constexpr uint32_t kHeaderBytes = 20;
// A packet on the link, with UDP and IP.
constexpr DataSize kPacketSize = DataSize::Bytes(kPayloadBytes + kHeaderBytes + 28);
constexpr TimeDelta kFeedbackInterval = TimeDelta::Millis(50);
constexpr TimeDelta kLossReportInterval = TimeDelta::Seconds(1);

class EventLoop {
 public:
  Timestamp now() const { return now_; }

  void At(Timestamp time, std::function<void()> action) {
    events_.push({std::max(time, now_), next_order_++, std::move(action)});
  }

  void RunUntil(Timestamp end) {
    while (!events_.empty() && events_.top().time < end) {
      Event event = events_.top();
      events_.pop();
      now_ = event.time;
      event.action();
    }
  }

 private:
  struct Event {
    Timestamp time;
    int64_t order;
    std::function<void()> action;
    // The queue's top is its largest element.
    bool operator<(const Event& other) const { return std::pair(other.time, other.order) < std::pair(time, order); }
  };

  Timestamp now_ = kStart;
  int64_t next_order_ = 0;
  std::priority_queue<Event> events_;
};

// The bottleneck. Rates are known in advance, so a packet's departure is known when it enters.
class Bottleneck {
 public:
  explicit Bottleneck(const PathConfig& path) : path_(path), random_(path.seed) {}

  // When the packet leaves the queue; nothing when it is dropped.
  std::optional<Timestamp> Enqueue(Timestamp now) {
    constexpr double kRandomRange = 18446744073709551616.0;
    const bool lossy = path_.loss_ratio > 0 && now >= path_.loss_from;
    if (lossy && static_cast<double>(random_()) / kRandomRange < path_.loss_ratio) return std::nullopt;
    while (!departures_.empty() && departures_.front() <= now) departures_.pop_front();
    const DataSize backlog = kPacketSize * static_cast<double>(departures_.size());
    if (backlog + kPacketSize > path_.queue) return std::nullopt;
    const Timestamp departure = Departure(departures_.empty() ? now : departures_.back());
    departures_.push_back(departure);
    return departure;
  }

 private:
  Timestamp Departure(Timestamp begin) const {
    DataSize left = kPacketSize;
    for (size_t i = 0; i < path_.capacity.size(); ++i) {
      const bool last = i + 1 == path_.capacity.size();
      const Timestamp end = last ? Timestamp::PlusInfinity() : path_.capacity[i + 1].from;
      if (end <= begin) continue;
      const DataRate rate = path_.capacity[i].rate;
      if (!rate.IsZero()) {
        const Timestamp done = begin + left / rate;
        if (done <= end) return done;
        left -= rate * (end - begin);
      }
      begin = end;
    }
    assert(false && "the last capacity is above 0");
    return Timestamp::PlusInfinity();
  }

  const PathConfig& path_;
  std::mt19937_64 random_;
  std::deque<Timestamp> departures_;
};

class Flow {
 public:
  Flow(EventLoop& loop, Bottleneck& bottleneck, const PathConfig& path, FlowConfig config)
      : loop_(loop),
        bottleneck_(bottleneck),
        path_(path),
        config_(std::move(config)),
        controller_(*config_.controller) {
    loop_.At(config_.start, [this] { Start(); });
  }

  FlowResult TakeResult() { return std::move(result_); }

 private:
  struct ProbeCluster {
    ProbeClusterConfig config;
    DataSize min_size = DataSize::Zero();
    DataSize bytes_sent = DataSize::Zero();
    int32_t packets_sent = 0;
    Timestamp started = Timestamp::PlusInfinity();
  };

  void Start() {
    target_rate_ = config_.constraints.start_rate;
    config_.constraints.at_time = loop_.now();
    controller_.OnTargetRateConstraints(config_.constraints);
    Poll();
    last_send_time_ = loop_.now();
    ScheduleSend();
    Repeat(kFeedbackInterval, [this] { SendFeedback(); });
    if (config_.loss_reports) Repeat(kLossReportInterval, [this] { SendLossReport(); });
  }

  void Repeat(TimeDelta interval, const std::function<void()>& action) {
    loop_.At(loop_.now() + interval, [this, interval, action] {
      action();
      Repeat(interval, action);
    });
  }

  // Advances the controller's time and applies its updates.
  void Poll() {
    while (controller_.next_timeout() <= loop_.now()) {
      if (sender_) {
        Obey(sender_->OnTimeout(loop_.now()));
      } else if (const auto update = receiver_->OnTimeout(loop_.now()); update.target_rate) {
        loop_.At(loop_.now() + path_.one_way_delay, [this, rate = *update.target_rate] {
          SenderControlUpdate remb;
          remb.target_rate = TargetTransferRate{loop_.now(), rate};
          Obey(remb);
        });
      }
    }
    const Timestamp timeout = controller_.next_timeout();
    if (timeout.IsFinite() && (timeout < timer_ || timer_ <= loop_.now())) {
      timer_ = timeout;
      loop_.At(timeout, [this] { Poll(); });
    }
  }

  void Obey(const SenderControlUpdate& update) {
    if (update.target_rate) {
      target_rate_ = update.target_rate->target_rate;
      result_.targets.push_back({loop_.now(), target_rate_});
    }
    if (update.congestion_window) congestion_window_ = *update.congestion_window;
    if (update.pacer_config) {
      pacing_rate_ = update.pacer_config->pacing_rate;
      padding_rate_ = update.pacer_config->padding_rate;
    }
    for (const ProbeClusterConfig& cluster : update.probe_cluster_configs) {
      ++result_.probe_clusters;
      if (!config_.send_probes) continue;
      probes_.push_back({.config = cluster, .min_size = cluster.target_data_rate * cluster.target_duration});
    }
    if (last_send_time_.IsFinite()) ScheduleSend();
  }

  DataRate SendRate() const {
    return std::min(std::max(std::min(target_rate_, config_.max_media_rate), padding_rate_), pacing_rate_);
  }

  // Only the send that was scheduled last counts.
  void ScheduleSend() {
    Timestamp time = last_send_time_ + kPacketSize / SendRate();
    if (!probes_.empty()) {
      const ProbeCluster& probe = probes_.front();
      time = probe.started.IsFinite() ? probe.started + probe.bytes_sent / probe.config.target_data_rate : loop_.now();
    }
    const int64_t id = ++scheduled_send_;
    loop_.At(time, [this, id] {
      if (id == scheduled_send_) Send();
    });
  }

  void Send() {
    congested_ = DataInFlight() >= congestion_window_;
    if (congested_) return;
    const Timestamp now = loop_.now();
    SentPacket packet;
    packet.send_time = now;
    packet.size = kPacketSize;
    packet.sequence_number = next_sequence_number_++;
    if (!probes_.empty()) {
      ProbeCluster& probe = probes_.front();
      if (!probe.started.IsFinite()) probe.started = now;
      packet.pacing_info = {.probe_cluster_id = probe.config.id,
                            .probe_cluster_min_probes = probe.config.target_probe_count,
                            .probe_cluster_min_size = probe.min_size,
                            .probe_cluster_bytes_sent = probe.bytes_sent,
                            .send_rate = probe.config.target_data_rate};
      probe.bytes_sent += kPacketSize;
      ++probe.packets_sent;
      if (probe.bytes_sent >= probe.min_size && probe.packets_sent >= probe.config.target_probe_count) {
        probes_.pop_front();
      }
    }
    last_send_time_ = now;
    ++result_.packets_sent;
    sent_.push_back(packet);
    sent_.back().data_in_flight = packet.data_in_flight = DataInFlight();
    if (sender_) sender_->OnSentPacket(packet);

    if (const auto departure = bottleneck_.Enqueue(now)) {
      loop_.At(*departure + path_.one_way_delay, [this, packet] { Receive(packet); });
    } else {
      ++result_.packets_dropped;
    }
    if (sender_) Poll();
    ScheduleSend();
  }

  DataSize DataInFlight() const { return kPacketSize * static_cast<double>(sent_.size()); }

  void Receive(const SentPacket& packet) {
    const Timestamp now = loop_.now();
    one_way_delay_ = now - packet.send_time;
    result_.deliveries.push_back(
        {now, one_way_delay_, packet.size, packet.pacing_info.probe_cluster_id != PacedPacketInfo::kNotAProbe});
    received_.push_back({packet, now});
    const int64_t lost = packet.sequence_number - highest_received_ - 1;
    highest_received_ = packet.sequence_number;
    lost_since_report_ += lost;
    ++received_since_report_;
    if (sender_) return;
    Arrival arrival;
    arrival.packet.arrival_time = now;
    arrival.packet.sequence_number = static_cast<uint16_t>(packet.sequence_number);
    arrival.packet.has_abs_send_time = true;
    arrival.packet.abs_send_time = static_cast<uint32_t>(((packet.send_time.us() << 18) / 1'000'000) & 0xFFFFFF);
    arrival.packet.header_size = kHeaderBytes;
    arrival.packet.payload_size = kPayloadBytes;
    arrival.sequence_number = packet.sequence_number;
    arrival.lost_change = static_cast<int32_t>(lost);
    receiver_->OnArrival(arrival);
    Poll();
  }

  // Transport feedback on everything up to the newest packet received.
  void SendFeedback() {
    if (receiver_ || received_.empty()) return;
    loop_.At(loop_.now() + path_.one_way_delay, [this, received = std::exchange(received_, {})] {
      TransportPacketsFeedback feedback;
      feedback.feedback_time = loop_.now();
      for (const PacketResult& result : received) {
        while (sent_.front().sequence_number < result.sent_packet.sequence_number) {
          feedback.packet_feedbacks.push_back({sent_.front()});
          sent_.pop_front();
        }
        feedback.packet_feedbacks.push_back({sent_.front(), result.receive_time});
        sent_.pop_front();
      }
      feedback.data_in_flight = DataInFlight();
      sender_->OnTransportPacketsFeedback(feedback);
      Poll();
      if (congested_) ScheduleSend();
    });
  }

  // An RTCP receiver report, from which the sender also learns the round-trip time.
  void SendLossReport() {
    if (lost_since_report_ + received_since_report_ == 0) return;
    RoundTripTimeUpdate round_trip_time;
    round_trip_time.receive_time = loop_.now();
    round_trip_time.round_trip_time = one_way_delay_ + path_.one_way_delay;
    TransportLossReport report;
    report.packets_lost_delta = std::exchange(lost_since_report_, 0);
    report.packets_received_delta = std::exchange(received_since_report_, 0);
    if (receiver_) {
      controller_.OnRoundTripTimeUpdate(round_trip_time);
      return;
    }
    const Timestamp arrival = loop_.now() + path_.one_way_delay;
    report.receive_time = report.end_time = round_trip_time.receive_time = arrival;
    report.start_time = arrival - kLossReportInterval;
    loop_.At(arrival, [this, report, round_trip_time] {
      sender_->OnTransportLossReport(report);
      controller_.OnRoundTripTimeUpdate(round_trip_time);
      Poll();
    });
  }

  EventLoop& loop_;
  Bottleneck& bottleneck_;
  const PathConfig& path_;
  FlowConfig config_;
  NetworkController& controller_;
  // One of the two.
  ReceiverController* const receiver_ = dynamic_cast<ReceiverController*>(&controller_);
  SenderController* const sender_ = dynamic_cast<SenderController*>(&controller_);
  FlowResult result_;

  DataRate target_rate_ = DataRate::Zero();
  DataSize congestion_window_ = DataSize::PlusInfinity();
  // Waits for feedback.
  bool congested_ = false;
  DataRate pacing_rate_ = DataRate::PlusInfinity();
  DataRate padding_rate_ = DataRate::Zero();
  std::deque<ProbeCluster> probes_;
  std::deque<SentPacket> sent_;
  int64_t next_sequence_number_ = 0;
  Timestamp last_send_time_ = Timestamp::PlusInfinity();
  int64_t scheduled_send_ = 0;
  Timestamp timer_ = Timestamp::MinusInfinity();

  std::vector<PacketResult> received_;
  int64_t highest_received_ = -1;
  int64_t lost_since_report_ = 0;
  int64_t received_since_report_ = 0;
  TimeDelta one_way_delay_ = TimeDelta::Zero();
};

}  // namespace

PathConfig PathConfig::Steps(std::vector<CapacityStep> capacity, DataRate mean) {
  return {.capacity = std::move(capacity), .queue = mean * TimeDelta::Millis(300)};
}

DataRate FlowResult::ReceiveRate(Timestamp from, Timestamp to) const {
  DataSize received = DataSize::Zero();
  for (const Delivery& delivery : deliveries) {
    if (from <= delivery.arrival_time && delivery.arrival_time < to) received += delivery.size;
  }
  return received / (to - from);
}

DataRate FlowResult::TargetAt(Timestamp time) const {
  DataRate target = DataRate::Zero();
  for (const TargetChange& change : targets) {
    if (change.time <= time) target = change.target_rate;
  }
  return target;
}

TimeDelta FlowResult::DelayQuantile(double ratio) const {
  assert(!deliveries.empty());
  std::vector<TimeDelta> delays;
  delays.reserve(deliveries.size());
  for (const Delivery& delivery : deliveries) delays.push_back(delivery.one_way_delay);
  const auto nth = delays.begin() + std::lround(ratio * static_cast<double>(delays.size() - 1));
  std::nth_element(delays.begin(), nth, delays.end());
  return *nth;
}

std::vector<FlowResult> Simulate(const PathConfig& path, std::vector<FlowConfig> flows, TimeDelta duration) {
  EventLoop loop;
  Bottleneck bottleneck(path);
  std::vector<std::unique_ptr<Flow>> running;
  running.reserve(flows.size());
  for (FlowConfig& flow : flows) {
    running.push_back(std::make_unique<Flow>(loop, bottleneck, path, std::move(flow)));
  }
  loop.RunUntil(kStart + duration);
  std::vector<FlowResult> results;
  results.reserve(running.size());
  for (const auto& flow : running) results.push_back(flow->TakeResult());
  return results;
}

FlowResult Simulate(const PathConfig& path, std::unique_ptr<NetworkController> controller, TimeDelta duration) {
  std::vector<FlowConfig> flows(1);
  flows[0].controller = std::move(controller);
  return std::move(Simulate(path, std::move(flows), duration).front());
}

}  // namespace weir::bare
