#include "weir/pool_controller.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arrival/interval_accumulator.h"
#include "controllers/rule_controller.h"
#include "pool/fusion.h"
#include "pool/pilot_policy.h"
#include "pool/polled_members.h"

namespace weir {

namespace {

// `controller`, or the ten-line rule, tolerant of sparse packets, when it is null.
std::unique_ptr<ReceiverController> OrRule(std::unique_ptr<ReceiverController> controller) {
  if (controller) return controller;
  return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
}

class Pool final : public PoolController {
 public:
  Pool(PolledMembers members, PoolFunctions functions)
      : members_(std::move(members)), functions_(std::move(functions)) {}

  std::optional<Error> Configure(const PoolSpecification& specification) override {
    Selection line{.fusion = specification.fusion};
    const auto index = [this](const std::string& name) {
      const std::span<const MemberState> all = members();
      return static_cast<size_t>(std::ranges::find(all, name, &MemberState::name) - all.begin());
    };
    const auto stranger = [](const std::string& name) {
      return Error{"\"" + name + "\" is no member of this pool; members are chosen when it is made"};
    };
    line.pilot = index(specification.pilot);
    if (line.pilot == members().size()) return stranger(specification.pilot);
    for (const std::string& copilot : specification.copilots) {
      if (index(copilot) == members().size()) return stranger(copilot);
      line.copilots |= SetOf(index(copilot));
    }
    const bool user_policy = specification.policy == PilotPolicyKind::kUser;
    if (specification.fusion == FusionKind::kUser && !functions_.fusion)
      return Error{"fusion=user needs a function, which only a program that links the library can give"};
    if (user_policy && !functions_.policy)
      return Error{"policy=user needs a function, which only a program that links the library can give"};
    specification_ = specification;
    line_ = current_ = line;
    selector_.reset();
    if (specification.policy != PilotPolicyKind::kFixed) {
      selector_ = std::make_unique<Selector>();
      selector_->policy = user_policy ? functions_.policy : MakePilotPolicy(specification.policy);
    }
    for (MemberState& member : members_.states()) member.trust = 1;
    changed_at_ = Timestamp::MinusInfinity();
    return std::nullopt;
  }

  void SetDecisionLimit(DecisionLimit limit) override { members_.SetDecisionLimit(std::move(limit)); }

  const ControllerCounters& counters() const override { return members_.counters(); }
  std::span<const MemberState> members() const override { return members_.states(); }
  Role role(size_t member) const override {
    if (members()[member].suspended) return Role::kSuspended;
    if (member == current_.pilot) return Role::kPilot;
    return IsFused(member) ? Role::kCopilot : Role::kWatching;
  }

  const MemberState& active() const override { return members()[current_.pilot]; }
  const Selection& selection() const override { return current_; }
  const PoolSpecification& specification() const override { return specification_; }
  TimeDelta first_pilot_held() const override { return first_pilot_held_; }

  std::string_view name() const override { return "pool"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    if (!started_at_.IsFinite()) {
      started_at_ = constraints.at_time;
      target_ = constraints.start_rate;
      if (selector_) selector_->accumulator.Start(started_at_);
    }
    members_.ForEach([&](ReceiverController& member) { member.OnTargetRateConstraints(constraints); });
  }

  void OnObjective(const Objective& objective) override {
    objective_ = objective;
    members_.ForEach([&](ReceiverController& member) { member.OnObjective(objective); });
  }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    if (selector_) selector_->accumulator.OnRoundTripTime(update.round_trip_time);
    members_.ForEach([&](ReceiverController& member) { member.OnRoundTripTimeUpdate(update); });
  }
  void OnArrival(const Arrival& arrival) override {
    members_.ForEach([&](ReceiverController& member) { member.OnArrival(arrival); });
    if (selector_) selector_->accumulator.OnArrival(arrival);
  }
  // Members go on from the rate in force (PolyCC's step 4), so that a change of the active one causes no step.
  void OnTargetApplied(const TargetTransferRate& target) override {
    target_ = target.target_rate;
    members_.ForEach([&](ReceiverController& member) { member.OnTargetApplied(target); });
  }

  Timestamp next_timeout() const override { return members_.next_timeout(); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    bool any = false;
    bool policy_is_due = false;
    for (size_t i = 0; i < members().size(); ++i) {
      if (!members_.Poll(i, i == current_.pilot, now)) continue;
      // A controller without further decisions would stay active for ever.
      const bool pilot_is_done = !members_.controller(current_.pilot).next_timeout().IsFinite();
      policy_is_due |= i == current_.pilot || (i == line_.pilot && pilot_is_done);
      any |= i == current_.pilot || IsFused(i);
    }
    if (policy_is_due && selector_) RunPolicy(now);
    any |= members_.PollFallback(active(), now);
    if (!any) return {};
    ReceiverControlUpdate update = members_.UpdateOf(active());
    if (update.target_rate) Fuse(update);
    return update;
  }

 private:
  // The policy with its inputs.
  struct Selector {
    PilotPolicy policy;
    TrustMeasure trust = {};
    IntervalAccumulator accumulator = {};
  };

  bool IsFused(size_t member) const {
    return current_.fusion != FusionKind::kPilotOnly && member != current_.pilot &&
           (current_.copilots & SetOf(member)) != 0 && !members()[member].suspended && members()[member].rate;
  }

  void RunPolicy(Timestamp now) {
    const IntervalStatistics statistics = selector_->accumulator.Take(now, target_);
    const PoolView view{.now = now,
                        .objective = objective_,
                        .target = target_,
                        .statistics = statistics,
                        .members = members(),
                        .line = line_,
                        .current = current_};
    members_.states()[line_.pilot].trust = selector_->trust.Update(view);
    Selection wanted = selector_->policy(view);
    const bool settles = now - changed_at_ < kMinActiveTime && !active().suspended;
    if (wanted.pilot >= members().size() || settles) wanted.pilot = current_.pilot;
    if (wanted.pilot != current_.pilot) {
      changed_at_ = now;
      if (members_.counters().active_changes++ == 0) first_pilot_held_ = now - started_at_;
    }
    current_ = wanted;
  }

  void Fuse(ReceiverControlUpdate& update) {
    const DataRate pilot = *update.target_rate;
    std::array<DataRate, kMaxCopilots> rates{pilot, pilot, pilot, pilot, pilot, pilot, pilot};
    size_t count = 0;
    for (size_t i = 0; i < members().size(); ++i) {
      if (IsFused(i)) rates[count++] = *members()[i].rate;
    }
    const Fusion fusion{current_.fusion, specification_.fusion_target, &functions_.fusion};
    const FusedRate fused = FuseRates(fusion, pilot, std::span(rates).first(count));
    members_.counters().fusion_faults += fused.fault;
    if (fused.from_copilot) update.source = TargetSource::kCandidate;
    update.target_rate = fused.rate;
  }

  PolledMembers members_;
  const PoolFunctions functions_;
  PoolSpecification specification_;
  Selection line_;  // of the specification
  Selection current_;
  // Null: the policy is fixed.
  std::unique_ptr<Selector> selector_;
  Objective objective_;
  DataRate target_ = DataRate::Zero();
  Timestamp started_at_ = Timestamp::MinusInfinity();
  Timestamp changed_at_ = Timestamp::MinusInfinity();
  TimeDelta first_pilot_held_ = TimeDelta::PlusInfinity();
};

}  // namespace

std::string_view ToString(PoolController::Role role) {
  constexpr std::array<std::string_view, 4> kNames{"pilot", "copilot", "watching", "suspended"};
  return kNames[static_cast<size_t>(role)];
}

Result<std::unique_ptr<PoolController>> PoolController::Create(const PoolSpecification& specification,
                                                               const MemberFactory& make_member,
                                                               PoolFunctions functions,
                                                               std::unique_ptr<ReceiverController> fallback) {
  if (specification.copilots.size() > kMaxCopilots) return Error{"a pool has at most 7 copilots"};
  PolledMembers members(OrRule(std::move(fallback)));
  std::vector<std::string> names{specification.pilot};
  names.insert(names.end(), specification.copilots.begin(), specification.copilots.end());
  for (const std::string& name : names) {
    if (name == "rule" && names.size() > 1) {
      members.Add(name, OrRule(nullptr));
      continue;
    }
    auto made = make_member(name);
    if (!made) return Error{names.size() > 1 ? "pool member " + name + ": " + made.error() : made.error()};
    members.Add(name, std::move(made.value()));
  }
  auto pool = std::make_unique<Pool>(std::move(members), std::move(functions));
  if (auto error = pool->Configure(specification)) return std::move(*error);
  return std::unique_ptr<PoolController>(std::move(pool));
}

std::unique_ptr<PoolController> PoolController::Of(std::unique_ptr<ReceiverController> controller,
                                                   std::unique_ptr<ReceiverController> fallback) {
  controller = OrRule(std::move(controller));
  const PoolSpecification alone{.pilot = std::string(controller->name())};
  const auto member = [&](const std::string&) -> Result<std::unique_ptr<ReceiverController>> {
    return std::move(controller);
  };
  return std::move(Create(alone, member, {}, std::move(fallback)).value());
}

}  // namespace weir
