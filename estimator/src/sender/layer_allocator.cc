#include "weir/layer_allocator.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace weir {
namespace {

constexpr TimeDelta kMinWait = TimeDelta::Millis(100);
constexpr TimeDelta kMaxWait = TimeDelta::Seconds(32);
// Typical length of a dip of targets and measured rates. A layer that is removed and added again costs a key frame.
constexpr TimeDelta kMaxExcess = TimeDelta::Seconds(1);
// The sum over a target that has fallen by a quarter. mediasoup, too, waits a second after a smaller fall.
constexpr double kMaxDip = 4.0 / 3.0;
// Twice kMaxExcess: hosts measure rates over about a second, so a burst remains visible for that much longer.
constexpr TimeDelta kMaxBurst = TimeDelta::Seconds(2);
// A target that falls within this time after it allowed a layer was too high.
constexpr TimeDelta kTakenBackWithin = TimeDelta::Seconds(10);
constexpr TimeDelta kCalm = TimeDelta::Seconds(30);

std::optional<Error> CheckLayers(const MediaStream& stream) {
  const auto error = [&stream](const std::string& text) {
    return Error{"stream " + std::to_string(stream.id) + ": " + text};
  };
  if (stream.kind != PacketKind::kVideo && stream.kind != PacketKind::kAudio) {
    return error("its kind must be video or audio");
  }
  if (stream.layers.empty() || stream.layers.size() > LayerAllocator::kMaxLayers) {
    return error("it must have 1 to " + std::to_string(LayerAllocator::kMaxLayers) + " layers");
  }
  DataRate below = DataRate::Zero();
  for (size_t i = 0; i < stream.layers.size(); ++i) {
    const MediaLayer& layer = stream.layers[i];
    const std::string name = "layer " + std::to_string(i);
    if (!layer.rate.IsFinite() || layer.rate <= below) {
      return error(name + "'s rate must be finite and above " + (i == 0 ? "0" : "that of the layer below"));
    }
    if (layer.width < 0 || layer.height < 0) return error(name + "'s width and height must be at least 0");
    below = layer.rate;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToString(LayerReason reason) {
  constexpr std::array<std::string_view, 5> kNames{"start", "headroom", "target_fell", "streams_changed", "priority"};
  return kNames[static_cast<size_t>(reason)];
}

Result<LayerAllocator> LayerAllocator::Create(const LayerAllocatorConfig& config) {
  if (!(config.margin > 0 && config.margin <= 1)) return Error{"the margin must be above 0 and at most 1"};
  if (config.wait < kMinWait || config.wait > kMaxWait) return Error{"the wait must be from 100 ms to 32 s"};
  return LayerAllocator(config);
}

std::optional<Error> LayerAllocator::SetStreams(std::span<const MediaStream> streams) {
  if (streams.size() > kMaxStreams) return Error{"there may be at most " + std::to_string(kMaxStreams) + " streams"};
  std::vector<Stream> next;
  std::vector<LayerAllocation> allocations;
  std::vector<Item> order;
  bool any_new = any_new_;
  next.reserve(streams.size());
  allocations.reserve(streams.size());
  for (const MediaStream& given : streams) {
    if (auto error = CheckLayers(given)) return error;
    const auto has_id = [&given](const LayerAllocation& allocation) { return allocation.id == given.id; };
    if (std::ranges::any_of(allocations, has_id)) return Error{"two streams have the id " + std::to_string(given.id)};

    const auto layer_count = static_cast<int>(given.layers.size());
    const auto former = std::ranges::find_if(allocations_, has_id) - allocations_.begin();
    const bool continues = former < std::ssize(allocations_) && streams_[former].layer_count == layer_count;
    Stream& stream = next.emplace_back(continues ? streams_[former] : Stream{});
    LayerAllocation& allocation = allocations.emplace_back(continues ? allocations_[former] : LayerAllocation{});
    if (!continues) stream.wait = config_.wait;
    stream.layer_count = layer_count;
    std::ranges::copy(given.layers, stream.layers.begin());
    const bool required = given.kind == PacketKind::kAudio || !given.may_pause;
    if (required && allocation.layer < 0) {
      allocation = LayerAllocation{};
      allocation.layer = 0;
      any_new = true;
    }
    allocation.id = given.id;
    allocation.forwarded = allocation.layer < 0 ? MediaLayer{} : stream.layers[allocation.layer];
    for (int layer = 0; layer < layer_count; ++layer) {
      order.push_back({.stream = next.size() - 1, .layer = layer, .required = required && layer == 0});
    }
  }
  std::ranges::sort(order, {}, [&](const Item& item) {
    const MediaStream& stream = streams[item.stream];
    return std::tuple(!item.required, stream.kind != PacketKind::kAudio, -int64_t{stream.priority}, item.layer,
                      stream.id);
  });
  streams_ = std::move(next);
  allocations_ = std::move(allocations);
  order_ = std::move(order);
  any_new_ = any_new;
  return std::nullopt;
}

std::span<const LayerAllocation> LayerAllocator::Allocate(DataRate target, Timestamp now) {
  if (!IsTime(now) || now < now_) return allocations_;
  now_ = now;
  for (Stream& stream : streams_) {
    if (now - stream.taken_back_time >= stream.wait + kCalm) stream.wait = config_.wait;
  }

  const DataRate in_force = allocated_rate();
  const bool exceeds = in_force > target;
  const bool any_new = std::exchange(any_new_, false);
  if (exceeds && target < target_) {
    excess_reason_ = LayerReason::kTargetFell;
  } else if (exceeds && !excess_since_.IsFinite()) {
    excess_reason_ = LayerReason::kStreamsChanged;
    is_burst_ = true;
  }
  if (!exceeds || any_new || excess_reason_ == LayerReason::kTargetFell) is_burst_ = false;
  excess_since_ = exceeds ? std::min(excess_since_, now) : Timestamp::PlusInfinity();
  target_ = target;
  const TimeDelta excess = exceeds ? now - excess_since_ : TimeDelta::Zero();
  const bool all_stay =
      exceeds && (is_burst_ ? excess <= kMaxBurst : in_force <= target * kMaxDip && excess <= kMaxExcess);

  DataRate sum = DataRate::Zero();
  DataRate waiting = DataRate::Zero();  // of layers that fit
  bool added = false;
  for (const Item& item : order_) {
    Stream& stream = streams_[item.stream];
    const int layer = allocations_[item.stream].layer;
    if (item.layer > layer + 1) continue;
    const DataRate with_it = sum + stream.Cost(item.layer);
    if (item.layer <= layer) {
      if (item.required || all_stay || (added ? Fits(with_it, target) : with_it <= target)) {
        sum = with_it;
      } else {
        Remove(item.stream, item.layer, exceeds ? excess_reason_ : LayerReason::kPriority);
      }
    } else if (!Fits(with_it + waiting, target)) {
      stream.fits_since = Timestamp::PlusInfinity();
    } else {
      stream.fits_since = std::min(stream.fits_since, now);
      if (exceeds || now - stream.fits_since < (item.layer > 0 ? stream.wait : config_.wait)) {
        waiting += stream.Cost(item.layer);
        continue;
      }
      Add(item.stream);
      sum = with_it;
      added = true;
    }
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    LayerAllocation& allocation = allocations_[i];
    if (!allocation.at_time.IsFinite()) allocation.at_time = now;
    allocation.forwarded = allocation.layer < 0 ? MediaLayer{} : streams_[i].layers[allocation.layer];
  }
  return allocations_;
}

void LayerAllocator::Add(size_t stream) {
  Stream& gaining = streams_[stream];
  LayerAllocation& allocation = allocations_[stream];
  const bool is_new = gaining.fits_since.IsMinusInfinity();
  ++allocation.layer;
  allocation.reason = is_new ? LayerReason::kStart : LayerReason::kHeadroom;
  allocation.at_time = now_;
  gaining.added_time = now_;
  if (!is_new) gaining.fits_since = Timestamp::PlusInfinity();
}

void LayerAllocator::Remove(size_t stream, int layer, LayerReason reason) {
  Stream& losing = streams_[stream];
  LayerAllocation& allocation = allocations_[stream];
  allocation.layer = layer - 1;
  allocation.reason = reason;
  allocation.at_time = now_;
  losing.fits_since = Timestamp::PlusInfinity();
  if (now_ - losing.added_time > kTakenBackWithin) return;
  losing.wait = std::min(losing.wait * 2, kMaxWait);
  losing.taken_back_time = now_;
  losing.added_time = Timestamp::MinusInfinity();  // a fall in several steps counts as one loss
}

DataRate LayerAllocator::allocated_rate() const {
  DataRate sum = DataRate::Zero();
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (allocations_[i].layer >= 0) sum += streams_[i].layers[allocations_[i].layer].rate;
  }
  return sum;
}

DataRate LayerAllocator::desired_rate() const {
  DataRate sum = DataRate::Zero();
  for (const Stream& stream : streams_) sum += stream.layers[stream.layer_count - 1].rate;
  return WithMargin(sum);
}

DataRate LayerAllocator::next_rate() const {
  DataRate next = DataRate::PlusInfinity();
  DataRate sum = DataRate::Zero();
  for (const Item& item : order_) {
    const int layer = allocations_[item.stream].layer;
    if (item.layer > layer + 1) continue;
    const DataRate with_it = sum + streams_[item.stream].Cost(item.layer);
    if (item.layer <= layer) {
      sum = with_it;
    } else {
      next = std::min(next, WithMargin(with_it));
    }
  }
  return next.IsPlusInfinity() ? DataRate::Zero() : next;
}

}  // namespace weir
