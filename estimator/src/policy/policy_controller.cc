#include "weir/policy_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "policy/feature_history.h"
#include "policy/inline_executor.h"
#include "policy/mmsys_features.h"
#include "policy/policy.h"
#include "policy/policy_inputs.h"
#include "registry.h"
#include "weir/names.h"

namespace weir {
namespace {

// A pause of the host (a suspended machine) of this many intervals clears the history.
constexpr double kForgetAfterIntervals = 50;

}  // namespace

class PolicyController::Observer {
 public:
  explicit Observer(const ModelDescription& description) {
    if (description.format == ModelFormat::kWeir1) {
      history_.emplace(description.features);
    } else {
      mmsys_features_.emplace();
      mmsys_observation_.resize(description.observation_size);
    }
  }

  // Begins the first interval.
  void Start(Timestamp now) { accumulator_.Start(now); }
  void OnRoundTripTime(TimeDelta round_trip_time) {
    accumulator_.OnRoundTripTime(round_trip_time);
    if (mmsys_features_) mmsys_features_->OnRoundTripTime(round_trip_time);
  }
  void OnArrival(const Arrival& arrival) {
    if (mmsys_features_) {
      mmsys_features_->OnArrival(arrival);
    } else {
      accumulator_.OnArrival(arrival);
    }
  }
  void EndInterval(Timestamp now, DataRate target, double loss_ratio_at_any_rate) {
    if (mmsys_features_) {
      mmsys_features_->EndInterval(now);
      mmsys_features_->Write(mmsys_observation_);
    } else {
      history_->Add(WithLessLossAtAnyRate(accumulator_.Take(now, target), loss_ratio_at_any_rate));
    }
  }
  // Ends the interval at `now` without an observation if the sender made a gap. Models of the format kMmsys2024 observe
  // all time.
  bool SkipsGap(Timestamp now, DataRate target) {
    if (!history_ || !accumulator_.SenderIsIdle(now)) return false;
    accumulator_.Skip(now, target);
    return true;
  }
  void Clear() {
    if (history_) history_->Clear();
    if (mmsys_features_) mmsys_features_->Clear();
  }
  // The observation of the last interval. All zeros before the first.
  std::span<const float> observation() const { return history_ ? history_->observation() : mmsys_observation_; }

 private:
  // For models of the format kWeir1.
  IntervalAccumulator accumulator_;
  std::optional<FeatureHistory> history_;
  // For models of the format kMmsys2024.
  std::optional<MmsysFeatures> mmsys_features_;
  std::vector<float> mmsys_observation_;
};

PolicyController::PolicyController(std::unique_ptr<Policy> policy)
    : PolicyController(std::make_unique<InlineExecutor>(std::move(policy))) {}

PolicyController::PolicyController(std::unique_ptr<PolicyExecutor> executor)
    : executor_(std::move(executor)), observer_(std::make_unique<Observer>(description())) {}

PolicyController::~PolicyController() = default;

void PolicyController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  const Timestamp now = constraints.at_time;
  constraints_ = constraints;
  if (interval_end_.IsFinite()) {
    target_ = std::clamp(target_, constraints.min_rate, constraints.max_rate);
    return;
  }
  target_ = constraints.start_rate;
  // Even if the estimator was not active yet.
  constexpr int kSilentIntervals = FeatureHistory::kSilentIntervals;
  observer_->Start(now - description().interval * kSilentIntervals);
  for (int left = kSilentIntervals - 1; left >= 0; --left) EndInterval(now - description().interval * left);
  timer_.Start(now, description().interval);
}

void PolicyController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  observer_->OnRoundTripTime(update.round_trip_time);
}

void PolicyController::OnArrival(const Arrival& arrival) { observer_->OnArrival(arrival); }

void PolicyController::EndInterval(Timestamp now) {
  if (now - interval_end_ > description().interval * kForgetAfterIntervals) Reset();
  interval_end_ = now;
  observer_->EndInterval(now, target_, loss_ratio_at_any_rate_);
}

void PolicyController::Reset() {
  observer_->Clear();
  executor_->Reset();
  waiting_ = false;
}

void PolicyController::Decide(Timestamp now) {
  waiting_ = false;
  if (observer_->SkipsGap(now, target_)) {
    interval_end_ = now;
    return;
  }
  EndInterval(now);
  executor_->Submit(observer_->observation(), has_queue_to_yield_ ? Yielding(objective_) : objective_, now);
  submitted_at_ = now;
  waiting_ = true;
}

std::optional<DataRate> PolicyController::TakeAnswer(Timestamp now) {
  const std::optional<PolicyAnswer> answer = executor_->Take(now);
  const TimeDelta age = now - submitted_at_;
  if (!answer && age < description().interval) return std::nullopt;
  waiting_ = false;
  if (!answer || age > description().interval || answer->fault != PolicyFault::kNone) return std::nullopt;
  std::span<const float> action = answer->action;
  if (action.empty()) return target_;
  // (bandwidth, standard deviation)
  if (description().format == ModelFormat::kMmsys2024) action = action.first(1);
  return description().action.Apply(action, target_);
}

std::span<const float> PolicyController::ObservationAt(Timestamp now) {
  if (interval_end_.IsFinite() && now > interval_end_) EndInterval(now);
  return observer_->observation();
}

ReceiverControlUpdate PolicyController::OnTimeout(Timestamp now) {
  ReceiverControlUpdate update;
  if (!waiting_) {
    if (!timer_.Take(now)) return update;
    Decide(now);
    if (!waiting_) {
      update.target_rate = target_;
      return update;
    }
  }
  if (const std::optional<DataRate> rate = TakeAnswer(now)) {
    // The guard bounds the target in force (bounds_rule.cc). A candidate is bounded before, as that of every controller
    // is, because pools compare and average candidates.
    target_ = std::clamp(*rate, constraints_.min_rate, constraints_.max_rate);
    update.target_rate = target_;
  }
  if (waiting_) {
    update.source = TargetSource::kUndecided;
  } else if (timer_.Take(now)) {
    // The answer took the whole interval, or did not arrive.
    Decide(now);
  }
  if (waiting_) poll_at_ = std::min(executor_->next_timeout(now), submitted_at_ + description().interval);
  return update;
}

std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model,
                                                         const PolicyExecutorFactory& make_executor) {
  auto policy = std::make_unique<Policy>(std::move(model));
  if (!make_executor) return std::make_unique<PolicyController>(std::move(policy));
  return std::make_unique<PolicyController>(make_executor(std::move(policy)));
}

bool IsModelName(std::string_view controller) { return controller.substr(0, controller.find(':')) == "weir"; }

Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate,
                                                           const PolicyExecutorFactory& make_executor) {
  if (IsModelName(name)) {
    const size_t colon = name.find(':');
    auto model = models(colon == std::string::npos ? "" : name.substr(colon + 1));
    if (!model) return Error{model.error()};
    return MakePolicyController(std::move(model.value()), make_executor);
  }
  if (auto built_in = MakeBuiltInController(name, fixed_rate)) return built_in;
  return Error{"there is none of this name; there are weir, weir:MODEL, " + ListNames(kBuiltInControllers)};
}

}  // namespace weir
