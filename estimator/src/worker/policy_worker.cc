// The thread on which the decisions of many calls are computed, for hosts whose own must not wait for a model. It
// starts with the first executor; the rest of the library has none.
//
// Decisions are computed in the order of the executors' first questions; those that wait when the thread becomes free
// are computed together, see Policy::Run(). The newest question of an executor is taken then: a policy that is slow
// misses some, and its recurrent state with it. No function of an executor waits or allocates, nor does its destructor
// wait, however long a decision takes. The thread ends after its decision when all executors are gone, which may be on
// any threads.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "policy/policy.h"
#include "weir/policy_executor.h"
#include "worker/mailbox.h"

namespace weir {
namespace {

struct Question {
  std::vector<float> observation;
  Objective objective = {};
  // Number of calls of Submit() and Reset().
  uint64_t number = 0;
  uint64_t resets = 0;
};

struct Answer {
  PolicyFault fault = PolicyFault::kNone;
  std::vector<float> action;
  // The number of the question.
  uint64_t number = 0;
};

// State shared by an executor and the thread, each of which keeps it alive.
struct Call {
  explicit Call(std::unique_ptr<Policy> policy)
      : policy(std::move(policy)),
        questions(Question{.observation = std::vector<float>(this->policy->description().observation_size)}),
        answers(Answer{.action = std::vector<float>(this->policy->description().action_size)}) {}

  // Used by the thread only, except for the description.
  const std::unique_ptr<Policy> policy;
  uint64_t resets = 0;

  Mailbox<Question> questions;
  Mailbox<Answer> answers;

  // True from a question until the thread is about to read it. The thread that sets it owns the two fields below and
  // hands them over.
  std::atomic<bool> is_queued = false;
  Call* next = nullptr;
  std::shared_ptr<Call> self;
};

// Queue of the calls that have a question. Any thread appends, and one takes.
class Queue {
 public:
  void Append(const std::shared_ptr<Call>& call) {
    if (call->is_queued.exchange(true, std::memory_order_acq_rel)) return;
    call->self = call;
    call->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(call->next, call.get(), std::memory_order_release, std::memory_order_relaxed))
      continue;
    Wake();
  }
  void Stop() {
    is_stopped_.store(true, std::memory_order_relaxed);
    Wake();
  }

  // --- For the thread only. A call that was taken is still marked as queued.

  // Waits for a call. Returns null once the queue is stopped.
  std::shared_ptr<Call> Take() {
    while (true) {
      const uint32_t wakes = wakes_;
      if (is_stopped_.load(std::memory_order_relaxed)) return nullptr;
      if (std::shared_ptr<Call> call = TakeNow()) return call;
      wakes_.wait(wakes);
    }
  }
  // Returns null if there is none.
  std::shared_ptr<Call> TakeNow() {
    if (oldest_ == nullptr) {
      for (Call* call = newest_.exchange(nullptr, std::memory_order_acquire); call != nullptr;) {
        Call* const older = std::exchange(call->next, oldest_);
        oldest_ = std::exchange(call, older);
      }
    }
    if (oldest_ == nullptr) return nullptr;
    Call* const call = std::exchange(oldest_, oldest_->next);
    return std::move(call->self);
  }

 private:
  void Wake() {
    ++wakes_;
    wakes_.notify_one();
  }

  // Newest first: each call is linked to the one before it.
  std::atomic<Call*> newest_ = nullptr;
  std::atomic<uint32_t> wakes_ = 0;
  std::atomic<bool> is_stopped_ = false;
  // Oldest first, used by the thread only: each call is linked to the one after it.
  Call* oldest_ = nullptr;
};

// Takes the newest question of each call and answers them together. The calls must have one model.
void AnswerTogether(std::span<const std::shared_ptr<Call>> calls) {
  std::array<PolicyDecision, internal::kMaxTogether> decisions;
  std::array<Call*, internal::kMaxTogether> asking{};
  size_t count = 0;
  for (const std::shared_ptr<Call>& call : calls) {
    // Reset before the question is read, so that a later question queues the call again.
    call->is_queued.exchange(false, std::memory_order_acq_rel);
    const Question* const question = call->questions.Receive();
    if (question == nullptr) continue;
    if (std::exchange(call->resets, question->resets) != question->resets) call->policy->ResetState();
    Answer& answer = call->answers.outgoing();
    answer.number = question->number;
    asking[count] = call.get();
    decisions[count++] = {.policy = call->policy.get(),
                          .observation = question->observation,
                          .objective = question->objective,
                          .action = answer.action};
  }
  Policy::RunTogether(std::span(decisions).first(count));
  for (size_t i = 0; i < count; ++i) {
    Answer& answer = asking[i]->answers.outgoing();
    answer.fault = decisions[i].fault;
    asking[i]->answers.Send();
  }
}

void RunThread(const std::shared_ptr<Queue>& queue) {
  while (std::shared_ptr<Call> call = queue->Take()) {
    std::array<std::shared_ptr<Call>, internal::kMaxTogether> calls;
    size_t count = 0;
    for (; call; call = count < calls.size() ? queue->TakeNow() : nullptr) calls[count++] = std::move(call);
    std::span<std::shared_ptr<Call>> rest = std::span(calls).first(count);
    while (!rest.empty()) {
      // The model of the oldest question comes first. With ONNX Runtime, calls are computed one after another and each
      // answer is sent at once.
      const PolicyModel& model = rest[0]->policy->model();
      const auto is_same = [&](const std::shared_ptr<Call>& one) { return &one->policy->model() == &model; };
      const auto different =
          model.needs_onnxruntime() ? rest.begin() + 1 : std::stable_partition(rest.begin(), rest.end(), is_same);
      const auto together = static_cast<size_t>(different - rest.begin());
      AnswerTogether(rest.first(together));
      rest = rest.subspan(together);
    }
  }
  // Empties the queue, because queued calls keep themselves alive.
  while (queue->TakeNow()) continue;
}

// The thread, which finishes its present decision even if this object is destroyed.
class Worker {
 public:
  Worker() { std::thread(RunThread, queue_).detach(); }
  ~Worker() { queue_->Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Queue& queue() { return *queue_; }

 private:
  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

class WorkerExecutor final : public PolicyExecutor {
 public:
  WorkerExecutor(std::shared_ptr<Worker> worker, std::unique_ptr<Policy> policy)
      : worker_(std::move(worker)), call_(std::make_shared<Call>(std::move(policy))) {}

  const ModelDescription& description() const override { return call_->policy->description(); }
  void Submit(std::span<const float> observation, const Objective& objective, Timestamp) override {
    Question& question = call_->questions.outgoing();
    std::ranges::copy(observation, question.observation.begin());
    question.objective = objective;
    question.number = ++number_;
    question.resets = resets_;
    call_->questions.Send();
    worker_->queue().Append(call_);
    waits_ = true;
  }
  std::optional<PolicyAnswer> Take(Timestamp) override {
    const Answer* const answer = waits_ ? call_->answers.Receive() : nullptr;
    if (answer == nullptr || answer->number != number_) return std::nullopt;
    waits_ = false;
    return PolicyAnswer{.fault = answer->fault, .action = answer->action};
  }
  void Reset() override {
    ++resets_;
    waits_ = false;
  }

 private:
  const std::shared_ptr<Worker> worker_;
  const std::shared_ptr<Call> call_;
  uint64_t number_ = 0;
  uint64_t resets_ = 0;
  bool waits_ = false;
};

}  // namespace

PolicyExecutorFactory ProcessWorker() {
  return [](std::unique_ptr<Policy> policy) {
    static std::mutex mutex;
    static std::weak_ptr<Worker> of_process;
    static pid_t process = 0;
    const std::lock_guard lock(mutex);
    std::shared_ptr<Worker> worker = of_process.lock();
    // A forked child has its parent's executors, but not the thread.
    const bool is_parents = std::exchange(process, getpid()) != getpid();
    if (!worker || is_parents) of_process = worker = std::make_shared<Worker>();
    return std::make_unique<WorkerExecutor>(std::move(worker), std::move(policy));
  };
}

}  // namespace weir
