// Layer selection for one subscriber: the simulcast or SVC layers that an SFU forwards within a target rate.
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
  int width = 0;                     // in pixels, at least 0; used only in the host's reports
  int height = 0;
};

struct MediaStream {
  uint32_t id = 0;                       // unique
  PacketKind kind = PacketKind::kVideo;  // kVideo or kAudio
  int priority = 0;                      // higher first
  bool may_pause = true;                 // if false, the lowest layer is always on, as for audio
  std::span<const MediaLayer> layers;    // 1 to kMaxLayers, with rising rates; not used after the call
};

// Reason of a stream's latest change.
enum class LayerReason : uint8_t {
  kStart,           // the stream's first layer or pause, or the host no longer allows it to pause
  kHeadroom,        // added: the target had room for it during the wait
  kTargetFell,      // removed: the target fell
  kStreamsChanged,  // removed: measured rates rose, or a stream that is always on was added
  kPriority,        // removed: a layer that precedes it in the order was added
};
std::string_view ToString(LayerReason reason);  // a literal, such as "target_fell"

struct LayerAllocation {
  uint32_t id = 0;
  int layer = -1;        // highest forwarded layer; -1 while the stream is paused
  MediaLayer forwarded;  // that layer; all zero while paused
  LayerReason reason = LayerReason::kStart;
  Timestamp at_time = Timestamp::MinusInfinity();  // of the change; MinusInfinity before the first Allocate()
};

struct LayerAllocatorConfig {
  // Hysteresis of the rate, above 0 and at most 1. A layer is added if the target exceeds the sum with it by this
  // share. It covers the spread of an encoder's rate around its measured mean.
  double margin = 0.1;
  // Hysteresis of time, 100 ms to 32 s. A layer is added after it has fitted for this long, so that a short peak of the
  // target costs no key frame.
  TimeDelta wait = TimeDelta::Millis(500);
};

// Decides which layers an SFU forwards to one subscriber. T is the target, M = 1 + margin. The layers have a fixed
// order: audio before video, then higher priority, then lower layer, then lower id.
//
// 1. The lowest layers of audio, and of video that may not pause, are always on, whatever T is.
// 2. Every other layer is considered in the order, with the sum of the layers before it that are on. A layer that does
//    not fit is skipped. Streams of equal priority thus share: each gets its layer 0 before any gets layer 1.
// 3. A layer is added when the sum with it has been at most T / M at each call during the wait, or at once for a new
//    stream. Until then its room counts as taken for the layers after it, which would else try the same room in turn.
//    Layers after an added one that no longer fit into T / M are removed.
// 4. While the sum of the layers that are on exceeds T, nothing is added. The layers stay for 1 s if the sum is at most
//    4/3 T, and for 2 s if only the measured rates rose, as they do with a key frame or a slide. Otherwise the layers
//    that do not fit into T are removed at once.
// 5. When a stream loses a layer within 10 s after it last gained one, its wait doubles, up to 32 s, once for each
//    gain. The wait returns to the configured one 30 s after the longer wait has passed without another such loss. A
//    lowest layer always waits for the configured time: no picture is worse than one that changes often.
//
// Under a constant target the allocation settles and then does not change. With the default configuration a stream of L
// layers changes at most 12 L + 16 times a minute, for any targets and rates, and 240 times more if it may pause.
//
// Performs no I/O and is deterministic. Allocate() allocates no memory. Calls must not be concurrent.
class LayerAllocator {
 public:
  static constexpr size_t kMaxStreams = 64;
  static constexpr size_t kMaxLayers = 12;

  static Result<LayerAllocator> Create(const LayerAllocatorConfig& config = {});

  // Replaces the streams, for example when one was added or rates were measured again. A stream with the same id and
  // number of layers as a previous one continues it. An error names the invalid stream and leaves everything unchanged.
  [[nodiscard]] std::optional<Error> SetStreams(std::span<const MediaStream> streams);

  // Returns one allocation for each stream, in the order of SetStreams(), valid until the next call. Called when the
  // target or the streams change, and every 100 ms. A `target` below 0 counts as 0. The call changes nothing if `now`
  // is not a valid time or is before that of the previous call.
  std::span<const LayerAllocation> Allocate(DataRate target, Timestamp now);

  // Sum of the rates of the forwarded layers.
  DataRate allocated_rate() const;
  // Targets for SendSideEstimator::SetDesiredRate(), which a probe has to show. desired_rate() admits all layers: the
  // sum of the highest ones with the margin. next_rate() is the smallest target that, if it lasts, adds a layer. It is
  // at most the current target while a layer waits, and zero if there is nothing to add.
  DataRate desired_rate() const;
  DataRate next_rate() const;

 private:
  struct Stream {
    // Rate above that of the layer below.
    DataRate Cost(int layer) const { return layer == 0 ? layers[0].rate : layers[layer].rate - layers[layer - 1].rate; }

    int layer_count = 0;
    std::array<MediaLayer, kMaxLayers> layers;
    TimeDelta wait = TimeDelta::Zero();
    // Time since which the next layer fits. PlusInfinity if it does not fit, MinusInfinity if the stream is new.
    Timestamp fits_since = Timestamp::MinusInfinity();
    Timestamp added_time = Timestamp::MinusInfinity();
    // Time of the latest loss within 10 s after an addition.
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
  std::vector<LayerAllocation> allocations_;  // in the order of `streams_`
  std::vector<Item> order_;                   // every layer, in the order of rule 2
  Timestamp now_ = Timestamp::MinusInfinity();
  DataRate target_ = DataRate::Zero();
  // Time since which the sum exceeds the target, and the reason.
  Timestamp excess_since_ = Timestamp::PlusInfinity();
  LayerReason excess_reason_ = LayerReason::kTargetFell;
  // Since the latest Allocate() a stream was added, or a layer of one became always on.
  bool any_new_ = false;
  // Since the excess began, rates rose and the target did not fall.
  bool is_burst_ = false;
};

}  // namespace weir

#endif  // WEIR_LAYER_ALLOCATOR_H_
