// Cost of an estimator among many, as in an SFU: the shipped model is loaded once, and each estimator receives 1 Mbps,
// in turns.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks.h"
#include "made_estimator.h"
#include "policy/policy.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

constexpr TimeDelta kStep = TimeDelta::Millis(8);
constexpr int64_t kStepsPerSecond = 125;
// One packet in each step, of 1000 bytes.
constexpr uint32_t kPayloadBytes = 980;

using Model = std::shared_ptr<const PolicyModel>;

std::unique_ptr<BandwidthEstimator> MakeEstimator(const Model& model) {
  return std::make_unique<BandwidthEstimator>(
      MadeEstimator({}, std::make_unique<PolicyController>(std::make_unique<Policy>(model))));
}

Model LoadShipped(benchmark::State& state) {
  auto model = PolicyModel::Load(ShippedModel());
  if (model) return std::move(model.value());
  state.SkipWithError("the shipped model cannot be loaded");
  return nullptr;
}

class Fleet {
 public:
  Fleet(const Model& model, size_t size) {
    for (size_t i = 0; i < size; ++i) estimators_.push_back(MakeEstimator(model));
  }

  void RunSecond() {
    for (int64_t i = 0; i < kStepsPerSecond; ++i) Step();
  }

 private:
  void Step() {
    const Timestamp sent = Timestamp::Micros(0) + kStep * static_cast<double>(step_);
    // Every sixth is audio.
    const bool is_audio = step_ % 6 == 5;
    PacketArrival packet = (is_audio ? audio_ : video_).Next(sent, TimeDelta::Zero(), kPayloadBytes);
    packet.kind = is_audio ? PacketKind::kAudio : PacketKind::kVideo;
    for (size_t i = 0; i < estimators_.size(); ++i) {
      BandwidthEstimator& estimator = *estimators_[i];
      // Neither the same jitter nor the same time for all, so that decisions do not come all at once.
      const auto offset = static_cast<int64_t>(i);
      packet.arrival_time = sent + TimeDelta::Micros(25'000 + offset % 8000 + (step_ * 7919 + offset * 104'729) % 3000);
      if (estimator.next_timeout() <= packet.arrival_time)
        benchmark::DoNotOptimize(estimator.OnTimeout(packet.arrival_time));
      estimator.OnPacket(packet);
    }
    ++step_;
  }

  std::vector<std::unique_ptr<BandwidthEstimator>> estimators_;
  TestStream video_{1}, audio_{2};
  int64_t step_ = 0;
};

double ResidentMb() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) * 1e-6;
}

// Share of a core, in the seconds after the first two.
double CoreShare(Fleet& fleet, int seconds) {
  fleet.RunSecond();
  fleet.RunSecond();
  const double begin = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < seconds; ++i) fleet.RunSecond();
  return (CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - begin) / seconds;
}

// Counters: `core_share` of one core, 0 to 1; `cost_over_one`, of an estimator, against one that has the process to
// itself; `resident_mb` of the whole process.
void CoreShareOfFleet(benchmark::State& state) {
  const Model model = LoadShipped(state);
  if (model == nullptr) return;
  const auto size = static_cast<size_t>(state.range(0));
  double share = 0, alone = 0, resident_mb = 0;
  for (auto _ : state) {
    Fleet one(model, 1), all(model, size);
    alone = CoreShare(one, 1000);
    share = CoreShare(all, std::max(3, static_cast<int>(1000 / size)));
    resident_mb = ResidentMb();
  }
  state.counters["core_share"] = share;
  state.counters["cost_over_one"] = share / static_cast<double>(size) / alone;
  state.counters["resident_mb"] = resident_mb;
}
BENCHMARK(CoreShareOfFleet)->Arg(10)->Arg(100)->Arg(1000)->Iterations(1);

// Counters: `us_p50` of making one more estimator with a model that is loaded, and the `bytes` that it takes.
void SecondEstimator(benchmark::State& state) {
  const Model model = LoadShipped(state);
  if (model == nullptr) return;
  constexpr size_t kMany = 1000;
  std::vector<std::unique_ptr<BandwidthEstimator>> estimators;
  std::vector<double> us;
  double bytes = 0;
  for (auto _ : state) {
    estimators.clear();
    us.clear();
    const auto used = mallinfo2();
    for (size_t i = 0; i < kMany; ++i) {
      const double begin = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
      estimators.push_back(MakeEstimator(model));
      us.push_back((CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e6);
    }
    const auto now = mallinfo2();
    bytes = static_cast<double>(now.uordblks + now.hblkhd - used.uordblks - used.hblkhd) / kMany;
  }
  state.counters["us_p50"] = Quantile(us, 0.5);
  state.counters["bytes"] = bytes;
}
BENCHMARK(SecondEstimator)->Iterations(1);

}  // namespace
}  // namespace weir
