#include <algorithm>

#include "virtual_call/downlink_allocator.h"

namespace weir::sim {
namespace {

constexpr TimeDelta kInterval = TimeDelta::Seconds(1);
constexpr double kFall = 0.75;
constexpr double kRise = 1.5;
constexpr TimeDelta kMinActive = TimeDelta::Seconds(8);
constexpr TimeDelta kConservative = TimeDelta::Seconds(10);
constexpr int kHighestLayer = static_cast<int>(kSimulcastLayers) - 1;

class MediasoupDownlinkAllocator final : public DownlinkAllocator {
 public:
  std::vector<int> Allocate(DataRate target, std::span<const DownlinkStream> streams, Timestamp now) override {
    if (chosen_.size() != streams.size()) {
      chosen_.assign(streams.size(), -1);
      lowered_time_.assign(streams.size(), Timestamp::MinusInfinity());
      start_ = now;
    }
    desired_ = DataRate::Zero();
    for (const DownlinkStream& stream : streams) desired_ = desired_ + *std::ranges::max_element(stream.rates);
    const DataRate previous = previous_target_;
    previous_target_ = target;
    if (now - distributed_ < kInterval && target >= previous * kFall && target <= previous * kRise) return chosen_;
    distributed_ = now;
    Distribute(target, streams, now);
    return chosen_;
  }
  DesiredRate desired_rate() const override { return {.total = desired_}; }

 private:
  void Distribute(DataRate left, std::span<const DownlinkStream> streams, Timestamp now) {
    std::vector<int> provisional(streams.size(), -1);
    for (bool any = true; any;) {
      any = false;
      for (size_t i = 0; i < streams.size(); ++i) {
        const int next = provisional[i] + 1;
        if (next > kHighestLayer) continue;
        if (provisional[i] >= 0 && next > streams[i].forwarded && now - lowered_time_[i] < kConservative) continue;
        const DataRate rate = streams[i].rates[static_cast<size_t>(next)];
        const DataRate below =
            next == 0 ? DataRate::Zero() : std::min(streams[i].rates[static_cast<size_t>(next - 1)], rate);
        if (rate - below > left) continue;
        left = left - (rate - below);
        provisional[i] = next;
        any = true;
      }
    }
    for (size_t i = 0; i < streams.size(); ++i) {
      if (provisional[i] == chosen_[i]) continue;
      chosen_[i] = provisional[i];
      // A pause has no such effect.
      if (now - start_ > kMinActive && chosen_[i] >= 0 && chosen_[i] < streams[i].forwarded) lowered_time_[i] = now;
    }
  }

  std::vector<int> chosen_;
  std::vector<Timestamp> lowered_time_;
  Timestamp start_ = Timestamp::MinusInfinity();
  Timestamp distributed_ = Timestamp::MinusInfinity();
  DataRate previous_target_ = DataRate::Zero();
  DataRate desired_ = DataRate::Zero();
};

}  // namespace

std::unique_ptr<DownlinkAllocator> MakeMediasoupDownlinkAllocator() {
  return std::make_unique<MediasoupDownlinkAllocator>();
}

}  // namespace weir::sim
