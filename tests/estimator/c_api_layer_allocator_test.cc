// The allocator of layers in C: the same as in C++, and nonsense is an error.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "c_handles.h"
#include "counted_allocations.h"
#include "weir.h"
#include "weir/layer_allocator.h"

namespace weir {
namespace {

Owned<weir_layer_allocator> Create(double margin = 0, int64_t wait_us = 0) {
  return Created<weir_layer_allocator>(weir_layer_allocator_create, margin, wait_us);
}

std::array<weir_media_stream, 3> Streams() {
  return {{{.id = 1,
            .kind = WEIR_PACKET_AUDIO,
            .priority = 0,
            .may_pause = 1,
            .layer_count = 1,
            .layers = {{32'000, 0, 0}}},
           {.id = 2,
            .kind = WEIR_PACKET_VIDEO,
            .priority = 1,
            .may_pause = 1,
            .layer_count = 3,
            .layers = {{150'000, 320, 180}, {500'000, 640, 360}, {1'500'000, 1280, 720}}},
           {.id = 3,
            .kind = WEIR_PACKET_VIDEO,
            .priority = 0,
            .may_pause = 0,
            .layer_count = 2,
            .layers = {{100'000, 320, 180}, {300'000, 640, 360}}}}};
}

TEST(CApiLayerAllocatorTest, GivesTheSameAsInCpp) {
  const auto in_c = Create(0.2, 300'000);
  auto in_cpp = LayerAllocator::Create({.margin = 0.2, .wait = TimeDelta::Millis(300)});
  std::array<weir_media_stream, 3> streams = Streams();
  std::mt19937 random(1);
  for (int step = 0; step < 2000; ++step) {
    if (step % 100 == 0) {
      streams[1].priority = step / 100 % 3;
      std::vector<std::vector<MediaLayer>> layers(streams.size());
      std::vector<MediaStream> given;
      for (size_t i = 0; i < streams.size(); ++i) {
        for (size_t j = 0; j < streams[i].layer_count; ++j) {
          const weir_media_layer& layer = streams[i].layers[j];
          layers[i].push_back({DataRate::BitsPerSecond(layer.rate_bps), layer.width, layer.height});
        }
        given.push_back({.id = streams[i].id,
                         .kind = static_cast<PacketKind>(streams[i].kind),
                         .priority = streams[i].priority,
                         .may_pause = streams[i].may_pause != 0,
                         .layers = layers[i]});
      }
      ASSERT_EQ(weir_layer_allocator_set_streams(in_c.get(), streams.data(), streams.size()), WEIR_OK);
      ASSERT_FALSE(in_cpp.value().SetStreams(given));
    }
    const auto target_bps = static_cast<int64_t>(random() % 3'000'000);
    const int64_t now_us = step * 100'000;
    std::array<weir_layer_allocation, 3> allocations{};
    ASSERT_EQ(weir_layer_allocator_allocate(in_c.get(), target_bps, now_us, allocations.data(), 3), 3);
    const auto expected = in_cpp.value().Allocate(DataRate::BitsPerSecond(target_bps), Timestamp::Micros(now_us));
    for (size_t i = 0; i < allocations.size(); ++i) {
      ASSERT_EQ(allocations[i].id, expected[i].id);
      ASSERT_EQ(allocations[i].layer, expected[i].layer);
      ASSERT_EQ(allocations[i].forwarded.rate_bps, expected[i].forwarded.rate.bps());
      ASSERT_EQ(allocations[i].forwarded.width, expected[i].forwarded.width);
      ASSERT_EQ(allocations[i].forwarded.height, expected[i].forwarded.height);
      ASSERT_EQ(std::string_view(allocations[i].reason), ToString(expected[i].reason));
      ASSERT_EQ(allocations[i].at_time_us, expected[i].at_time.us());
    }
    weir_layer_rates rates{};
    ASSERT_EQ(weir_layer_allocator_get_rates(in_c.get(), &rates), WEIR_OK);
    ASSERT_EQ(rates.allocated_rate_bps, in_cpp.value().allocated_rate().bps());
    ASSERT_EQ(rates.desired_rate_bps, 2'198'400);
    ASSERT_EQ(rates.next_rate_bps, in_cpp.value().next_rate().bps());
  }
}

TEST(CApiLayerAllocatorTest, NullAndNonsenseAreErrors) {
  EXPECT_EQ(weir_layer_allocator_create(0, 0, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  for (const double margin : {-0.1, 1.1, static_cast<double>(NAN)}) {
    EXPECT_EQ(CreationError<weir_layer_allocator>(weir_layer_allocator_create, margin, int64_t{0}),
              WEIR_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(CreationError<weir_layer_allocator>(weir_layer_allocator_create, 0.0, int64_t{1}),
            WEIR_ERROR_INVALID_ARGUMENT);
  weir_layer_allocator_destroy(nullptr);

  const auto allocator = Create();
  weir_layer_allocator* const handle = allocator.get();
  EXPECT_EQ(weir_layer_allocator_set_streams(handle, nullptr, 0), WEIR_OK);
  EXPECT_EQ(weir_layer_allocator_allocate(handle, 0, 0, nullptr, 0), 0);
  EXPECT_EQ(weir_layer_allocator_set_streams(handle, Streams().data(), 3), WEIR_OK);
  EXPECT_EQ(weir_layer_allocator_set_streams(nullptr, Streams().data(), 3), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_set_streams(handle, nullptr, 1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_set_streams(handle, Streams().data(), 65), WEIR_ERROR_INVALID_ARGUMENT);
  const auto with = [](auto change) {
    std::array<weir_media_stream, 3> streams = Streams();
    change(streams[1]);
    return streams;
  };
  for (const auto& streams : {with([](weir_media_stream& stream) { stream.kind = WEIR_PACKET_PROBE; }),
                              with([](weir_media_stream& stream) { stream.kind = 256; }),
                              with([](weir_media_stream& stream) { stream.id = 1; }),
                              with([](weir_media_stream& stream) { stream.layer_count = 0; }),
                              with([](weir_media_stream& stream) { stream.layer_count = SIZE_MAX; }),
                              with([](weir_media_stream& stream) { stream.layers[1].rate_bps = INT64_MIN; }),
                              with([](weir_media_stream& stream) { stream.layers[0].rate_bps = 0; }),
                              with([](weir_media_stream& stream) { stream.layers[2].width = -1; })}) {
    EXPECT_EQ(weir_layer_allocator_set_streams(handle, streams.data(), streams.size()), WEIR_ERROR_INVALID_ARGUMENT);
  }
  std::array<weir_layer_allocation, 3> out{};
  EXPECT_EQ(weir_layer_allocator_allocate(handle, 0, 0, out.data(), 2), WEIR_ERROR_BUFFER_TOO_SMALL);
  EXPECT_EQ(weir_layer_allocator_allocate(handle, 0, 0, nullptr, 3), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_allocate(handle, 0, INT64_MAX, out.data(), 3), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_allocate(nullptr, 0, 0, out.data(), 3), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_get_rates(handle, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_layer_allocator_get_rates(nullptr, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  for (const int64_t target_bps : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(weir_layer_allocator_allocate(handle, target_bps, 0, out.data(), 3), 3);
    EXPECT_EQ(out[0].layer, 0);
    EXPECT_GE(out[2].layer, 0);
  }
}

TEST(CApiLayerAllocatorTest, AFailedAllocationChangesNothing) {
  const auto allocator = Create();
  ASSERT_EQ(weir_layer_allocator_set_streams(allocator.get(), Streams().data(), 1), WEIR_OK);
  std::array<weir_layer_allocation, 3> out{};
  int failed = 0;
  for (int error = WEIR_ERROR_OUT_OF_MEMORY; error != WEIR_OK; ++failed) {
    EXPECT_EQ(weir_layer_allocator_allocate(allocator.get(), 0, 0, out.data(), 3), 1);
    FailAllocationsAfter(failed);
    error = weir_layer_allocator_set_streams(allocator.get(), Streams().data(), 3);
    FailAllocationsAfter(-1);
    ASSERT_TRUE(error == WEIR_OK || error == WEIR_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_GE(failed, 3);
  EXPECT_EQ(weir_layer_allocator_allocate(allocator.get(), 0, 0, out.data(), 3), 3);
}

}  // namespace
}  // namespace weir
