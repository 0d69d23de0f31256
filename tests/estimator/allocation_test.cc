// Counts what the packet path and the timer allocate after warm-up: nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/nada_controller.h"
#include "weir/rule_controller.h"

namespace {
int64_t allocations = 0;
}  // namespace

// The whole test program allocates through these.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size != 0 ? size : 1);
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace weir {
namespace {

TEST(AllocationTest, TheCounterCounts) {
  const int64_t before = allocations;
  // Volatile: the compiler may leave out an allocation that nobody sees.
  int* volatile seen = new int(1);
  delete seen;
  EXPECT_EQ(allocations, before + 1);
}

TEST(AllocationTest, NoneAfterWarmUp) {
  std::vector<std::unique_ptr<RateController>> copilots;
  copilots.push_back(std::make_unique<NadaController>());
  BandwidthEstimator estimator({}, std::make_unique<RuleController>(), std::move(copilots),
                               {.kind = Fusion::Kind::kMin});
  TestStream stream;
  Timestamp now = Timestamp::Seconds(1);
  int64_t feedbacks = 0;
  const auto run = [&](int packets) {
    for (int i = 0; i < packets; ++i) {
      now += TimeDelta::Millis(3);
      if (i % 97 == 0) stream.Skip(2);
      estimator.OnPacket(stream.Next(now, TimeDelta::Millis(25 + i % 40)));
      estimator.OnPacket(TestStream(static_cast<uint32_t>(i + 2)).Next(now));
      while (estimator.next_timeout() <= now) feedbacks += estimator.OnTimeout(now).has_value();
    }
  };
  run(100);
  const int64_t before = allocations;
  run(20'000);
  EXPECT_EQ(allocations, before);
  EXPECT_GT(feedbacks, 60);
}

}  // namespace
}  // namespace weir
