// Layers for one subscriber: the simulcast or SVC layers of each stream that an SFU forwards within a target rate.
#ifndef WEIR_LAYER_ALLOCATOR_H_
#define WEIR_LAYER_ALLOCATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weir/arrival.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

struct MediaLayer {
  DataRate rate = DataRate::Zero();  // of the whole stream when this is its highest forwarded layer; finite, above 0
  int width = 0;                     // in pixels, at least 0; for the host's reports
  int height = 0;
};

struct MediaStream {
  uint32_t id = 0;                       // unique
  PacketKind kind = PacketKind::kVideo;  // kVideo or kAudio
  int priority = 0;                      // higher first
  bool may_pause = true;                 // false: the lowest layer is always on, as for audio
  std::span<const MediaLayer> layers;    // 1 to kMaxLayers, with rising rates; used during the call only
};

// Reason of a stream's latest change.
enum class LayerReason : uint8_t {
  kStart,           // the stream's first layer or pause, or the host no longer allows it to pause
  kHeadroom,        // added: the target had room for it during the wait
  kTargetFell,      // removed: the target fell
  kStreamsChanged,  // removed: measured rates rose, or a stream came that is always on
  kPriority,        // removed: a layer that goes before it was added
};
std::string_view ToString(LayerReason reason);  // a literal, such as "target_fell"

struct LayerAllocation {
  uint32_t id = 0;
  int layer = -1;        // the highest that is forwarded; -1: the stream is paused
  MediaLayer forwarded;  // that layer; zeros while paused
  LayerReason reason = LayerReason::kStart;
  Timestamp at_time = Timestamp::MinusInfinity();  // of the change; MinusInfinity before the first Allocate()
};

struct LayerAllocatorConfig {
  // Hysteresis of the rate, above 0, at most 1: a layer is added where the sum with it leaves this share of itself, and
  // the sum may exceed the target by as much for a second. Covers the spread of an encoder's rate around its measured
  // mean.
  double margin = 0.1;
  // Hysteresis of time, 100 ms to 32 s: a layer is added when it has fitted for so long, so that a short peak of the
  // target costs no key frame.
  TimeDelta wait = TimeDelta::Millis(500);
};

// Decides which layers an SFU forwards to one subscriber. T is the target, M = 1 + margin. The layers have a fixed
// order: audio before video, then higher priority, then lower layer, then lower id.
//
// 1. The lowest layers of audio, and of video that may not pause, are always on, whatever T is.
// 2. Every other layer is considered in the order, with the sum of those before it that are on. One that does not
//    fit is skipped. So streams of one priority share: each gets its layer 0 before any gets layer 1.
// 3. A layer is added when the sum with it has been at most T / M at each call during the wait; those of a new stream
//    at once. Layers after it that no longer fit into T / M are removed.
// 4. While all that is on exceeds T, nothing is added. It stays for 1 s if it is at most M T, and for 2 s if only the
//    measured rates rose, as they do with a key frame or a slide; otherwise the layers that do not fit into T are
//    removed at once.
// 5. When a stream loses a layer within 10 s after its latest gain, its wait doubles, up to 32 s, once for each gain.
//    It is the configured wait again 30 s after the longer wait has passed without another such loss.
//
// A constant target settles, then nothing changes. With the default configuration a stream of L layers changes at most
// 12 L + 16 times a minute, whatever the targets and rates are.
//
// Sans-IO and deterministic. Allocate() allocates no memory. Never call concurrently.
class LayerAllocator {
 public:
  static constexpr size_t kMaxStreams = 64;
  static constexpr size_t kMaxLayers = 12;

  static Result<LayerAllocator> Create(const LayerAllocatorConfig& config = {});

  // Replaces the streams, for example when one came or rates were measured again. A stream with the id and the number
  // of layers of a former one continues it. An error names the invalid stream; nothing changes then.
  [[nodiscard]] std::optional<Error> SetStreams(std::span<const MediaStream> streams);

  // One allocation for each stream, in the order of SetStreams(); valid until the next call. Called when the target
  // or the streams change, and every 100 ms. A `target` below 0 is as 0. A `now` that is no time, or before that of the
  // previous call, changes nothing.
  std::span<const LayerAllocation> Allocate(DataRate target, Timestamp now);

  // Sum of the layers that are forwarded.
  DataRate allocated_rate() const;
  // Targets, as SendSideEstimator::SetDesiredRate() takes them: that of all layers, which is the sum of the highest
  // with the margin, and the smallest that, if it lasts, adds a layer. The latter is at most the current target while a
  // layer waits, and zero when there is nothing to add. A probe has to show them.
  DataRate desired_rate() const;
  DataRate next_rate() const;

 private:
  struct Stream {
    // Rate above that of the layer below.
    DataRate Cost(int layer) const { return layer == 0 ? layers[0].rate : layers[layer].rate - layers[layer - 1].rate; }

    int layer_count = 0;
    std::array<MediaLayer, kMaxLayers> layers;
    TimeDelta wait = TimeDelta::Zero();
    // The layer above the one in force fits since then: PlusInfinity: it does not; MinusInfinity: the stream is new.
    Timestamp fits_since = Timestamp::MinusInfinity();
    Timestamp added_time = Timestamp::MinusInfinity();
    // The latest loss within 10 s after an addition.
    Timestamp taken_back_time = Timestamp::MinusInfinity();
  };
  struct Item {
    size_t stream = 0;
    int layer = 0;
    bool required = false;  // always on
  };

  explicit LayerAllocator(const LayerAllocatorConfig& config) : config_(config) {}
  bool Fits(DataRate sum, DataRate target) const { return WithMargin(sum) <= target; }
  DataRate WithMargin(DataRate rate) const { return rate * (1 + config_.margin); }
  void Add(size_t stream);
  void Remove(size_t stream, int layer, LayerReason reason);

  LayerAllocatorConfig config_;
  std::vector<Stream> streams_;
  std::vector<LayerAllocation> allocations_;  // of `streams_`
  std::vector<Item> order_;                   // every layer, as it is considered
  Timestamp now_ = Timestamp::MinusInfinity();
  DataRate target_ = DataRate::Zero();
  // The sum has exceeded the target since then, and why.
  Timestamp excess_since_ = Timestamp::PlusInfinity();
  LayerReason excess_reason_ = LayerReason::kTargetFell;
  // A stream came, or has a layer that is now always on, since the latest Allocate().
  bool any_new_ = false;
  // Rates rose and the target did not fall since the excess began.
  bool is_burst_ = false;
};

}  // namespace weir

#endif  // WEIR_LAYER_ALLOCATOR_H_
