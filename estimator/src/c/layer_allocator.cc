// The layer allocator in the C interface.
#include "weir/layer_allocator.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "c/c_api.h"

using weir::DataRate;
using weir::LayerAllocator;
using weir::MediaLayer;
using weir::MediaStream;
using weir::internal::FailArgument;
using weir::internal::OnHandle;

struct weir_layer_allocator {
  LayerAllocator allocator;
  size_t stream_count = 0;
};

namespace {

static_assert(WEIR_MAX_MEDIA_STREAMS == LayerAllocator::kMaxStreams);
static_assert(WEIR_MAX_MEDIA_LAYERS == LayerAllocator::kMaxLayers);

int SetStreams(weir_layer_allocator& allocator, std::span<const weir_media_stream> streams) {
  std::vector<MediaLayer> layers;
  layers.reserve(streams.size() * WEIR_MAX_MEDIA_LAYERS);
  std::vector<MediaStream> given;
  given.reserve(streams.size());
  for (const weir_media_stream& stream : streams) {
    if (stream.kind > WEIR_PACKET_RETRANSMISSION) return FailArgument("a stream's kind is unknown");
    if (stream.layer_count > WEIR_MAX_MEDIA_LAYERS) return FailArgument("a stream may have at most 12 layers");
    const size_t first = layers.size();
    for (const weir_media_layer& layer : std::span(stream.layers, stream.layer_count)) {
      layers.push_back({DataRate::BitsPerSecond(layer.rate_bps), layer.width, layer.height});
    }
    given.push_back({.id = stream.id,
                     .kind = static_cast<weir::PacketKind>(stream.kind),
                     .priority = stream.priority,
                     .may_pause = stream.may_pause != 0,
                     .layers = std::span(layers).subspan(first)});
  }
  if (const auto error = allocator.allocator.SetStreams(given)) return FailArgument(error->message);
  allocator.stream_count = given.size();
  return WEIR_OK;
}

}  // namespace

int weir_layer_allocator_create(double margin, int64_t wait_us, weir_layer_allocator** out) noexcept {
  return weir::internal::Create(out, [&](weir_layer_allocator*& allocator) {
    weir::LayerAllocatorConfig config;
    if (margin != 0) config.margin = margin;
    if (wait_us != 0) config.wait = weir::TimeDelta::Micros(wait_us);
    auto made = LayerAllocator::Create(config);
    if (!made) return FailArgument(made.error());
    allocator = new weir_layer_allocator{std::move(made.value())};
    return static_cast<int>(WEIR_OK);
  });
}

void weir_layer_allocator_destroy(weir_layer_allocator* allocator) noexcept { delete allocator; }

int weir_layer_allocator_set_streams(weir_layer_allocator* allocator, const weir_media_stream* streams,
                                     size_t stream_count) noexcept {
  return OnHandle(allocator, [&] {
    if (streams == nullptr && stream_count > 0) return FailArgument("the streams are NULL");
    if (stream_count > WEIR_MAX_MEDIA_STREAMS) return FailArgument("there may be at most 64 streams");
    return SetStreams(*allocator, {streams, stream_count});
  });
}

int weir_layer_allocator_allocate(weir_layer_allocator* allocator, int64_t target_rate_bps, int64_t now_us,
                                  weir_layer_allocation* allocations, size_t capacity) noexcept {
  return OnHandle(allocator, [&] {
    const weir::Timestamp now = weir::Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(weir::internal::kBadTime);
    if (allocations == nullptr && capacity > 0) return FailArgument("the pointer for the allocations is NULL");
    if (capacity < allocator->stream_count) {
      return weir::internal::Fail(WEIR_ERROR_BUFFER_TOO_SMALL, "there are more streams than room for allocations");
    }
    for (const weir::LayerAllocation& one :
         allocator->allocator.Allocate(DataRate::BitsPerSecond(target_rate_bps), now)) {
      *allocations++ = {.id = one.id,
                        .layer = one.layer,
                        .forwarded = {one.forwarded.rate.bps(), one.forwarded.width, one.forwarded.height},
                        .reason = weir::ToString(one.reason).data(),  // a literal, hence terminated
                        .at_time_us = one.at_time.us()};
    }
    return static_cast<int>(allocator->stream_count);
  });
}

int weir_layer_allocator_get_rates(const weir_layer_allocator* allocator, weir_layer_rates* rates) noexcept {
  return OnHandle(allocator, [&] {
    const weir_layer_rates values{.allocated_rate_bps = allocator->allocator.allocated_rate().bps(),
                                  .desired_rate_bps = allocator->allocator.desired_rate().bps(),
                                  .next_rate_bps = allocator->allocator.next_rate().bps()};
    return weir::internal::Write(values, rates);
  });
}
