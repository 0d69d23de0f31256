// Decisions of 1,000 calls on one worker thread, by a dense network with a million weights
// (tests/estimator/benchmark_models.py): how many there are in a second, how many are late in real time, and the cost
// of a packet while the worker is stuck.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks.h"
#include "gated_model.h"
#include "made_estimator.h"
#include "policy/inline_executor.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCalls = 1000;

std::vector<std::byte> ReadModel() { return ReadFile(WEIR_TEST_MODELS "/dense_million.onnx"); }

std::shared_ptr<const PolicyModel> LoadModel(benchmark::State& state) {
  auto model = PolicyModel::Load(ReadModel());
  if (model) return std::move(model.value());
  state.SkipWithError(model.error().c_str());
  return nullptr;
}

// --- As many decisions as there can be

class Round {
 public:
  Round(const std::shared_ptr<const PolicyModel>& model, const PolicyExecutorFactory& make_executor) {
    for (size_t i = 0; i < kCalls; ++i) executors_.push_back(make_executor(std::make_unique<Policy>(model)));
    observation_.assign(executors_.front()->description().observation_size, 0.5f);
  }

  // One decision of each call.
  void Decide() {
    for (const auto& executor : executors_) executor->Submit(observation_, kBalanced, Timestamp::Micros(0));
    for (const auto& executor : executors_) {
      while (!executor->Take(Timestamp::Micros(0))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::vector<std::unique_ptr<PolicyExecutor>> executors_;
  std::vector<float> observation_;
};

// Inline and on the worker by turns, in CPU time, since the machine may have other work. Counters: decisions in a
// second of a core, and `gain`, of the worker over inline.
void DecisionsOfWorker(benchmark::State& state) {
  const auto model = LoadModel(state);
  if (model == nullptr) return;
  Round at_once(model,
                [](std::unique_ptr<Policy> policy) { return std::make_unique<InlineExecutor>(std::move(policy)); });
  Round on_worker(model, ProcessWorker());
  double inline_s = 0, worker_s = 0;
  for (auto _ : state) {
    const double begin = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    at_once.Decide();
    const double middle = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    on_worker.Decide();
    inline_s += middle - begin;
    worker_s += CpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - middle;
  }
  const double decisions = static_cast<double>(kCalls) * static_cast<double>(state.iterations());
  state.counters["inline_per_s"] = decisions / inline_s;
  state.counters["worker_per_s"] = decisions / worker_s;
  state.counters["gain"] = inline_s / worker_s;
}
BENCHMARK(DecisionsOfWorker)->Iterations(10);

// --- In real time

// 1,000 calls of 100 packets a second, whose decisions are spread over the interval of 100 ms, on one thread and the
// worker's.
class Calls {
 public:
  explicit Calls(const std::shared_ptr<const PolicyModel>& model) : streams_(kCalls) {
    const PolicyExecutorFactory worker = ProcessWorker();
    for (size_t i = 0; i < kCalls; ++i) {
      estimators_.push_back(
          std::make_unique<BandwidthEstimator>(MadeEstimator({}, MakePolicyController(model, worker))));
    }
  }

  void Run(TimeDelta duration) {
    for (const int64_t end_ms = now_ms_ + duration.us() / 1000; now_ms_ < end_ms; ++now_ms_) {
      std::this_thread::sleep_until(begin_ + std::chrono::milliseconds(now_ms_));
      const Timestamp now =
          Timestamp::Micros(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count());
      for (size_t i = 0; i < kCalls; ++i) {
        // The first call of OnTimeout begins the intervals.
        if (static_cast<int64_t>(i) / 10 > now_ms_) break;
        if (estimators_[i]->next_timeout() <= now) benchmark::DoNotOptimize(estimators_[i]->OnTimeout(now));
        if (static_cast<int64_t>(i) % 10 == now_ms_ % 10)
          estimators_[i]->OnPacket(streams_[i].Next(now - TimeDelta::Millis(25)));
      }
    }
  }
  uint64_t decisions() const { return Sum(&ControllerState::decisions); }
  uint64_t faults() const { return Sum(&ControllerState::faults); }

 private:
  uint64_t Sum(uint64_t ControllerState::* count) const {
    uint64_t sum = 0;
    for (const auto& estimator : estimators_) sum += estimator->controller().active().*count;
    return sum;
  }

  std::vector<std::unique_ptr<BandwidthEstimator>> estimators_;
  std::vector<TestStream> streams_;
  const Clock::time_point begin_ = Clock::now();
  int64_t now_ms_ = 0;
};

// Counters: decisions a second, and the share of late ones, in 10 s after the first two.
void LateDecisions(benchmark::State& state) {
  const auto model = LoadModel(state);
  if (model == nullptr) return;
  constexpr TimeDelta kTime = TimeDelta::Seconds(10);
  uint64_t decisions = 0, late = 0;
  for (auto _ : state) {
    Calls calls(model);
    calls.Run(TimeDelta::Seconds(2));
    const uint64_t decisions_before = calls.decisions(), late_before = calls.faults();
    calls.Run(kTime);
    decisions = calls.decisions() - decisions_before;
    late = calls.faults() - late_before;
  }
  state.counters["per_s"] = static_cast<double>(decisions) / kTime.seconds();
  state.counters["late_share"] = static_cast<double>(late) / static_cast<double>(decisions + late);
}
BENCHMARK(LateDecisions)->Iterations(1);

// --- The packet path

// A call in simulated time, and how long each of its packets took.
class TimedCall {
 public:
  explicit TimedCall(const std::shared_ptr<const PolicyModel>& model)
      : estimator_(MadeEstimator({}, MakePolicyController(model, ProcessWorker()))) {}

  void Run(int packets) {
    for (int i = 0; i < packets; ++i, now_ += TimeDelta::Millis(3)) {
      const PacketArrival packet = stream_.Next(now_, TimeDelta::Millis(25), 1100);
      const Clock::time_point begin = Clock::now();
      estimator_.OnPacket(packet);
      durations_ns_.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
      if (estimator_.next_timeout() <= now_) benchmark::DoNotOptimize(estimator_.OnTimeout(now_));
    }
  }
  double p99_ns() { return Quantile(durations_ns_, 0.99); }

 private:
  BandwidthEstimator estimator_;
  TestStream stream_;
  Timestamp now_ = Timestamp::Micros(0);
  std::vector<double> durations_ns_;
};

// Blocks of packets by turns with a worker that is stuck in its first decision and with one that is not. Counters: the
// p99 of a packet, and the ratio of the two.
void PacketsWhileTheWorkerIsStuck(benchmark::State& state) {
  const auto model = LoadModel(state);
  if (model == nullptr) return;
  const auto gate = std::make_shared<Gate>();
  TimedCall stuck(MakeGatedModel(ReadModel(), gate)), free(model);
  for (auto _ : state) {
    stuck.Run(1000);
    free.Run(1000);
  }
  gate->open.release();
  state.counters["stuck_ns_p99"] = stuck.p99_ns();
  state.counters["free_ns_p99"] = free.p99_ns();
  state.counters["p99_ratio"] = stuck.p99_ns() / free.p99_ns();
}
BENCHMARK(PacketsWhileTheWorkerIsStuck)->Iterations(200);

}  // namespace
}  // namespace weir
