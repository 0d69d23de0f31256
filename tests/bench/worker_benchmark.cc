// Decisions of many calls on one worker thread: how often they are late, how many there are in a second, and what a
// packet costs beside it. The model is an LSTM of 512 units, tests/estimator/benchmark_models.py's.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "policy/policy_controller.h"
#include "worker/policy_worker.h"

namespace weir {
namespace {

using Model = std::shared_ptr<const PolicyModel>;

Model Load(benchmark::State& state, const std::string& name) {
  std::ifstream file(std::string(WEIR_TEST_MODELS) + "/" + name + ".onnx", std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto model = PolicyModel::Load(std::as_bytes(std::span(content)));
  if (model) return std::move(model.value());
  state.SkipWithError(model.error().c_str());
  return nullptr;
}

std::vector<std::unique_ptr<PolicyExecutor>> MakeExecutors(const Model& model, size_t count,
                                                           const PolicyExecutorFactory& make_executor) {
  std::vector<std::unique_ptr<PolicyExecutor>> executors;
  for (size_t i = 0; i < count; ++i) executors.push_back(make_executor(std::make_unique<Policy>(model)));
  return executors;
}

// One decision of each call, after the other and together.
double SecondsOfRound(std::vector<std::unique_ptr<PolicyExecutor>>& calls, const std::vector<float>& observation) {
  const Timestamp now = Timestamp::Micros(0);
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& call : calls) call->Submit(observation, kBalanced, now);
  for (const auto& call : calls) {
    while (!call->Take(now)) std::this_thread::yield();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Throughput(benchmark::State& state, const std::string& name) {
  const Model model = Load(state, name);
  if (model == nullptr) return;
  constexpr size_t kCalls = 1000;
  auto at_once = MakeExecutors(model, kCalls, [](std::unique_ptr<Policy> policy) {
    return std::make_unique<InlineExecutor>(std::move(policy));
  });
  auto on_worker = MakeExecutors(model, kCalls, MakePolicyWorker());
  const std::vector<float> observation(at_once.front()->description().observation_size, 0.5f);
  double inline_s = 0, worker_s = 0;
  for (auto _ : state) {
    inline_s += SecondsOfRound(at_once, observation);
    worker_s += SecondsOfRound(on_worker, observation);
  }
  const double decisions = kCalls * static_cast<double>(state.iterations());
  state.counters["inline_per_s"] = decisions / inline_s;
  state.counters["worker_per_s"] = decisions / worker_s;
  state.counters["gain"] = inline_s / worker_s;
}
BENCHMARK_CAPTURE(Throughput, Lstm512, "lstm_512")->Iterations(10);
BENCHMARK_CAPTURE(Throughput, Lstm2x256, "lstm_sized")->Iterations(10);

}  // namespace
}  // namespace weir
