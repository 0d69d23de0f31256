#include <algorithm>

#include "programs/input.h"
#include "virtual_call/downlink_allocator.h"
#include "weir/layer_allocator.h"

namespace weir::sim {
namespace {

class WeirDownlinkAllocator final : public DownlinkAllocator {
 public:
  std::vector<int> Allocate(DataRate target, std::span<const DownlinkStream> streams, Timestamp now) override {
    std::vector<std::array<MediaLayer, kSimulcastLayers>> layers(streams.size());
    std::vector<MediaStream> media;
    for (size_t i = 0; i < streams.size(); ++i) {
      // Measured rates of layers that rest may cross.
      DataRate highest = DataRate::Zero();
      for (size_t layer = 0; layer < kSimulcastLayers; ++layer) {
        highest = std::max(streams[i].rates[layer], highest + DataRate::BitsPerSecond(1));
        layers[i][layer].rate = highest;
      }
      media.push_back({.id = static_cast<uint32_t>(i + 1), .may_pause = i > 0, .layers = layers[i]});
    }
    if (const auto error = allocator_.SetStreams(media)) throw ProgramError(error->message, kFailed);
    std::vector<int> chosen;
    for (const LayerAllocation& allocation : allocator_.Allocate(target, now)) chosen.push_back(allocation.layer);
    return chosen;
  }
  DesiredRate desired_rate() const override {
    return {.total = allocator_.desired_rate(), .next = allocator_.next_rate()};
  }

 private:
  LayerAllocator allocator_ = LayerAllocator::Create().value();
};

}  // namespace

std::unique_ptr<DownlinkAllocator> MakeWeirDownlinkAllocator() { return std::make_unique<WeirDownlinkAllocator>(); }

}  // namespace weir::sim
