// Decisions on the thread of the worker, which a gate holds: nobody waits for it.

#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "counted_allocations.h"
#include "gated_model.h"
#include "made_estimator.h"
#include "policy/inline_executor.h"
#include "test_call.h"
#include "test_policies.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

using Model = std::shared_ptr<const PolicyModel>;

constexpr Timestamp kStart = Timestamp::Millis(5'000);

Model MakeGated(const std::string& name, const std::shared_ptr<Gate>& gate) {
  return MakeGatedModel(ReadTestModel(name), gate);
}

Model LoadModel(const std::string& name) {
  auto model = PolicyModel::Load(ReadTestModel(name));
  EXPECT_TRUE(model) << name;
  return model ? model.value() : nullptr;
}

void Ask(PolicyExecutor& executor, float value) {
  executor.Submit(std::vector<float>(executor.description().observation_size, value), kBalanced, kStart);
}

// Waits for the answer.
std::vector<float> AnswerOf(PolicyExecutor& executor) {
  while (true) {
    if (const auto answer = executor.Take(kStart)) {
      EXPECT_EQ(answer->fault, PolicyFault::kNone);
      return {answer->action.begin(), answer->action.end()};
    }
    std::this_thread::yield();
  }
}

// RembSender's slowest repetition.
constexpr TimeDelta kLongestGap = TimeDelta::Seconds(1);

TEST(PolicyWorkerTest, NothingWaitsForADecisionThatNeverEnds) {
  const auto gate = std::make_shared<Gate>();
  std::weak_ptr<const PolicyModel> of_worker;
  uint64_t faults = 0;
  {
    const Model model = MakeGated("rate_bps", gate);
    of_worker = model;
    BandwidthEstimator estimator = MadeEstimator({}, MakePolicyController(model, ProcessWorker()));
    TestCall call(estimator, {.capacity = Steady(DataRate::KilobitsPerSecond(2000))});
    // All of it runs on this thread, so it ends only if no call waits.
    call.RunUntil(TimeDelta::Millis(290));
    EXPECT_FALSE(estimator.controller().active().suspended);
    call.RunUntil(TimeDelta::Seconds(10));
    EXPECT_TRUE(estimator.controller().active().suspended);
    faults = estimator.counters().controller.faults;
    TimeDelta before = TimeDelta::Zero();
    for (const auto& remb : call.feedback()) EXPECT_LE(remb.at - std::exchange(before, remb.at), kLongestGap);
    // The fallback finds the capacity.
    EXPECT_GT(call.ReceiveRate(TimeDelta::Seconds(5), TimeDelta::Seconds(10)).bps(), 1'000'000);
    gate->arrived.acquire();
  }
  EXPECT_EQ(faults, 99u);
  // The estimator is gone, and the worker still computes.
  EXPECT_FALSE(of_worker.expired());
  gate->open.release();
  while (!of_worker.expired()) std::this_thread::yield();
  EXPECT_EQ(gate->together, std::vector<size_t>{1});
}

TEST(PolicyWorkerTest, WhatWaitsIsComputedTogether) {
  const auto gate = std::make_shared<Gate>();
  const Model model = MakeGated("mocc_sized", gate);
  const Model other = LoadModel("rate_bps");
  const auto make_executor = ProcessWorker();
  const auto first = make_executor(std::make_unique<Policy>(model));
  Ask(*first, 0);
  gate->arrived.acquire();
  std::deque<std::unique_ptr<PolicyExecutor>> executors;
  std::deque<InlineExecutor> at_once;
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    // Every fifth is of another model.
    const Model& one = i % 5 == 0 ? other : model;
    executors.push_back(make_executor(std::make_unique<Policy>(one)));
    Ask(*executors.back(), 1.0f + static_cast<float>(i));
    at_once.emplace_back(std::make_unique<Policy>(i % 5 == 0 ? other : LoadModel("mocc_sized")));
    Ask(at_once.back(), 1.0f + static_cast<float>(i));
  }
  gate->open.release(3);
  AnswerOf(*first);
  for (int i = 0; i < kCalls; ++i) {
    const auto index = static_cast<size_t>(i);
    EXPECT_EQ(AnswerOf(*executors[index]), AnswerOf(at_once[index])) << i;
  }
  // 64 calls at a time, of which four in five are of this model.
  EXPECT_EQ(gate->together, (std::vector<size_t>{1, 51, 29}));
}

TEST(PolicyWorkerTest, WhatCannotBeComputedTogetherIsAnsweredOneByOne) {
  const auto gate = std::make_shared<Gate>();
  const Model model = MakeGatedModel(ReadTestModel("rate_bps"), gate, /*needs_onnxruntime=*/true);
  const auto make_executor = ProcessWorker();
  std::vector<std::unique_ptr<PolicyExecutor>> executors;
  for (int i = 0; i < 3; ++i) {
    executors.push_back(make_executor(std::make_unique<Policy>(model)));
    Ask(*executors.back(), 1);
  }
  for (const auto& executor : executors) {
    gate->arrived.acquire();
    for (const auto& other : executors) EXPECT_FALSE(other->Take(kStart));
    gate->open.release();
    AnswerOf(*executor);
  }
  EXPECT_EQ(gate->together, (std::vector<size_t>{1, 1, 1}));
}

TEST(PolicyWorkerTest, TheNewestQuestionCounts) {
  const auto gate = std::make_shared<Gate>();
  const auto make_executor = ProcessWorker();
  const auto executor = make_executor(std::make_unique<Policy>(MakeGated("recurrent", gate)));
  Ask(*executor, 1);
  gate->arrived.acquire();
  for (const float value : {2.0f, 3.0f, 4.0f}) Ask(*executor, value);
  EXPECT_FALSE(executor->Take(kStart));
  gate->open.release(2);
  // The first was computed too, the others were not.
  EXPECT_EQ(AnswerOf(*executor), std::vector<float>{2e6f});
  EXPECT_FALSE(executor->Take(kStart));
  EXPECT_EQ(gate->together.size(), 2u);
}

TEST(PolicyWorkerTest, ResetDropsTheDecisionInFlightAndTheState) {
  const auto gate = std::make_shared<Gate>();
  const auto make_executor = ProcessWorker();
  const auto executor = make_executor(std::make_unique<Policy>(MakeGated("recurrent", gate)));
  const auto after = make_executor(LoadTestModel("rate_bps"));
  gate->open.release(10);
  for (const float decisions : {1e6f, 2e6f, 3e6f}) {
    Ask(*executor, 1);
    EXPECT_EQ(AnswerOf(*executor), std::vector<float>{decisions});
  }
  Ask(*executor, 1);
  executor->Reset();
  Ask(*after, 1);
  AnswerOf(*after);
  EXPECT_FALSE(executor->Take(kStart));
  Ask(*executor, 1);
  EXPECT_EQ(AnswerOf(*executor), std::vector<float>{1e6f});
}

TEST(PolicyWorkerTest, TheCallerAllocatesNothing) {
  const auto gate = std::make_shared<Gate>();
  const auto executor = ProcessWorker()(std::make_unique<Policy>(MakeGated("recurrent", gate)));
  Ask(*executor, 1);
  gate->arrived.acquire();
  const std::vector<float> observation(executor->description().observation_size);
  const int64_t before = CountedAllocations();
  for (int i = 0; i < 1000; ++i) {
    executor->Submit(observation, kBalanced, kStart);
    EXPECT_FALSE(executor->Take(kStart));
  }
  EXPECT_EQ(CountedAllocations(), before);
  gate->open.release(2);
}

TEST(PolicyWorkerTest, AControllerGetsItsAnswerFromTheWorkerOfTheProcess) {
  const auto controller = MakePolicyController(LoadModel("rate_bps"), ProcessWorker());
  const auto after = ProcessWorker()(LoadTestModel("rate_bps"));
  controller->OnTargetRateConstraints({.at_time = kStart});
  int asked = 0;
  for (int64_t ms = 100; ms <= 1000; ms += 100) {
    const Timestamp now = kStart + TimeDelta::Millis(ms);
    if (controller->OnTimeout(now).source != TargetSource::kUndecided) continue;
    ++asked;
    Ask(*after, 1);
    AnswerOf(*after);
    EXPECT_EQ(controller->next_timeout(), now + PolicyExecutor::kPollInterval);
    EXPECT_TRUE(controller->OnTimeout(now + PolicyExecutor::kPollInterval).target_rate);
  }
  EXPECT_GT(asked, 0);
}

TEST(PolicyWorkerTest, AChildProcessHasAWorkerOfItsOwn) {
#ifdef WEIR_IS_SANITIZED
  GTEST_SKIP() << "sanitizers: their locks may be held by another thread at the fork";
#endif
  const auto inherited = ProcessWorker()(LoadTestModel("rate_bps"));
  Ask(*inherited, 1);
  AnswerOf(*inherited);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const auto executor = ProcessWorker()(LoadTestModel("rate_bps"));
    Ask(*executor, 1);
    _exit(AnswerOf(*executor).size() == 1 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Calls come and go on several threads; under ThreadSanitizer whatever they share with the worker is a failure.
TEST(PolicyWorkerTest, CallsOfManyThreadsShareTheWorkerOfTheProcess) {
  constexpr int kThreads = 4, kCalls = 50;
  const Model model = LoadModel("rate_bps");
  const auto call = [&model](int thread) {
    for (int i = 0; i < kCalls; ++i) {
      const auto executor = ProcessWorker()(std::make_unique<Policy>(model));
      InlineExecutor at_once(std::make_unique<Policy>(model));
      for (int question = 1; question <= 4; ++question) {
        const auto value = static_cast<float>(1000 * thread + 10 * i + question);
        Ask(*executor, value);
        if (question == 2) executor->Reset();
        if (question % 2 == 0) continue;
        Ask(at_once, value);
        EXPECT_EQ(AnswerOf(*executor), AnswerOf(at_once));
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(call, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weir
