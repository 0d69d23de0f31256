#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "virtual_call/downlink_allocator.h"
#include "virtual_call/livekit_channel.h"

namespace weir::sim {
namespace {

constexpr int kHighestLayer = static_cast<int>(kSimulcastLayers) - 1;
// libwebrtc's interval of REMB, and the fall of the estimate that is reported at once.
constexpr TimeDelta kReportInterval = TimeDelta::Millis(200);
constexpr double kReportedFall = 1 / 1.03;
// Above this share of the forwarded rate an estimate that falls is no congestion.
constexpr double kCongestedBelow = 0.95;
constexpr double kProbeOverage = 1.2;
constexpr DataRate kLeastProbe = DataRate::KilobitsPerSecond(200);
constexpr TimeDelta kLeastInterval = TimeDelta::Seconds(3);
constexpr TimeDelta kMostInterval = TimeDelta::Seconds(120);
constexpr TimeDelta kLeastDuration = TimeDelta::Millis(200);
constexpr TimeDelta kMostDuration = TimeDelta::Seconds(20);
constexpr double kStep = 1.5;
// Five round trips of 70 ms, LiveKit's default.
constexpr TimeDelta kSettle = TimeDelta::Millis(350);
constexpr LivekitChannelConfig kInProbe{.reports = 3,
                                        .least_reports = 3,
                                        .threshold = 0,
                                        .equal_after = TimeDelta::Zero(),
                                        .least_window = TimeDelta::Millis(500),
                                        .most_window = TimeDelta::Seconds(1),
                                        .lossy_above = 0.04};
// The share of the repeated NACKs by which the rate falls.
constexpr double kNackAttenuation = 0.4;

DataRate RateOf(const DownlinkStream& stream, int layer) {
  return layer < 0 ? DataRate::Zero() : stream.rates[static_cast<size_t>(layer)];
}

class LivekitDownlinkAllocator final : public DownlinkAllocator {
 public:
  std::vector<int> Allocate(DataRate target, std::span<const DownlinkStream> streams, Timestamp now) override {
    if (chosen_.size() != streams.size()) chosen_.assign(streams.size(), kHighestLayer);
    if (now - reported_time_ >= kReportInterval || target < reported_ * kReportedFall) Report(target, streams, now);
    if (IsDeficient()) {
      FollowProbe(streams, now);
    } else if (was_deficient_) {
      Reset();
    }
    was_deficient_ = IsDeficient();
    desired_ = probe_ && !probe_->ended.IsFinite() ? probe_->goal : Usage(streams);
    return chosen_;
  }
  DesiredRate desired_rate() const override { return {.total = desired_}; }

 private:
  struct Probe {
    DataRate goal;
    Timestamp start;
    bool congests = false;
    Timestamp ended = Timestamp::PlusInfinity();
  };

  bool IsDeficient() const {
    return std::ranges::any_of(chosen_, [](int layer) { return layer < kHighestLayer; });
  }
  DataRate Usage(std::span<const DownlinkStream> streams) const {
    DataRate sum = DataRate::Zero();
    for (size_t i = 0; i < streams.size(); ++i) sum += RateOf(streams[i], chosen_[i]);
    return sum;
  }

  void Report(DataRate target, std::span<const DownlinkStream> streams, Timestamp now) {
    reported_ = target;
    reported_time_ = now;
    int64_t packets = 0;
    int64_t repeated = 0;
    for (const DownlinkStream& stream : streams) {
      packets += stream.packets;
      repeated += stream.repeated_retransmissions;
    }
    const int64_t new_packets = packets - std::exchange(packets_, packets);
    const int64_t new_repeated = repeated - std::exchange(repeated_, repeated);
    if (probe_ && congested_) return;  // until the probe is settled
    channel_.Add(target, now);
    channel_.AddPackets(new_packets, new_repeated, now);
    if (!channel_.falls() && !channel_.is_lossy(now)) {
      congested_ = false;
      return;
    }
    if (probe_) {
      congested_ = probe_->congests = true;
      EndProbe(now);
      return;
    }
    const DataRate usage = Usage(streams);
    const double kept = 1 - kNackAttenuation * channel_.repeated_share();
    const DataRate carried = channel_.falls() ? target : std::min(target, usage * kept);
    if (carried > usage * kCongestedBelow || carried == committed_) return;
    congested_ = true;
    committed_ = carried;
    AllocateAll(streams);
  }

  // One layer after the other, each for all streams in turn; the lowest always.
  void AllocateAll(std::span<const DownlinkStream> streams) {
    DataRate left = committed_;
    chosen_.assign(streams.size(), -1);
    for (int layer = 0; layer <= kHighestLayer; ++layer) {
      for (size_t i = 0; i < streams.size(); ++i) {
        const DataRate cost = RateOf(streams[i], layer) - RateOf(streams[i], chosen_[i]);
        if (layer > 0 && cost > left) continue;
        left = std::max(left - cost, DataRate::Zero());
        chosen_[i] = layer;
      }
    }
  }

  void FollowProbe(std::span<const DownlinkStream> streams, Timestamp now) {
    if (!probe_) {
      if (!congested_ && now >= next_probe_) StartProbe(streams, now);
      return;
    }
    const bool reached = channel_.has_enough() && channel_.highest() > probe_->goal;
    if (reached || now - probe_->start >= duration_) EndProbe(now);
    if (now - probe_->ended < kSettle) return;
    const bool congests = probe_->congests;
    interval_ = congests ? std::min(interval_ * kStep, kMostInterval) : kLeastInterval;
    duration_ = congests ? kLeastDuration : std::min(duration_ * kStep, kMostDuration);
    next_probe_ = probe_->start + interval_;
    if (!congests && channel_.has_enough()) committed_ = std::max(committed_, channel_.highest());
    probe_.reset();
    congested_ = false;
    channel_ = LivekitChannel();
    if (!congests) Boost(streams);
  }

  void StartProbe(std::span<const DownlinkStream> streams, Timestamp now) {
    const DataRate more = CostOfNext(streams, Farthest()) * kProbeOverage;
    probe_ = Probe{.goal = Usage(streams) + std::max(more, kLeastProbe), .start = now};
    channel_ = LivekitChannel(kInProbe);
  }

  void EndProbe(Timestamp now) { probe_->ended = std::min(probe_->ended, now); }

  void Boost(std::span<const DownlinkStream> streams) {
    for (DataRate left = committed_ - Usage(streams); IsDeficient();) {
      const size_t farthest = Farthest();
      const DataRate cost = CostOfNext(streams, farthest);
      if (cost > left) return;
      left -= cost;
      ++chosen_[farthest];
    }
  }

  // The rate that one more layer of a stream adds.
  DataRate CostOfNext(std::span<const DownlinkStream> streams, size_t index) const {
    return RateOf(streams[index], chosen_[index] + 1) - RateOf(streams[index], chosen_[index]);
  }

  // The stream farthest from its highest layer.
  size_t Farthest() const { return static_cast<size_t>(std::ranges::min_element(chosen_) - chosen_.begin()); }

  void Reset() {
    probe_.reset();
    congested_ = false;
    committed_ = DataRate::PlusInfinity();
    channel_ = LivekitChannel();
    interval_ = kLeastInterval;
    duration_ = kLeastDuration;
    next_probe_ = Timestamp::MinusInfinity();
  }

  std::vector<int> chosen_;
  bool was_deficient_ = false;
  DataRate reported_ = DataRate::Zero();
  Timestamp reported_time_ = Timestamp::MinusInfinity();
  LivekitChannel channel_;
  int64_t packets_ = 0;
  int64_t repeated_ = 0;
  bool congested_ = false;
  // The rate within which layers are allocated.
  DataRate committed_ = DataRate::PlusInfinity();
  std::optional<Probe> probe_;
  TimeDelta interval_ = kLeastInterval;
  TimeDelta duration_ = kLeastDuration;
  Timestamp next_probe_ = Timestamp::MinusInfinity();
  DataRate desired_ = DataRate::Zero();
};

}  // namespace

std::unique_ptr<DownlinkAllocator> MakeLivekitDownlinkAllocator() {
  return std::make_unique<LivekitDownlinkAllocator>();
}

}  // namespace weir::sim
