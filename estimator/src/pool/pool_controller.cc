#include "weir/pool_controller.h"

#include <algorithm>
#include <array>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "controllers/supervisor.h"
#include "pool/pilot_policy.h"

namespace weir {
namespace {

class Pool final : public Supervisor<PoolController> {
 public:
  Pool(std::unique_ptr<ReceiverController> fallback, PoolFunctions functions)
      : Supervisor(std::move(fallback)), functions_(std::move(functions)) {}

  void AddMember(std::string name, std::unique_ptr<ReceiverController> member) {
    Add(std::move(member));
    members_.push_back({{.name = std::move(name)}});
  }
  [[nodiscard]] std::optional<Error> Configure(const PoolSpecification& specification) override;

  std::span<const MemberState> members() const override { return members_; }
  Role role(size_t member) const override;
  const Selection& selection() const override { return current_; }
  const PoolSpecification& specification() const override { return specification_; }
  TimeDelta first_pilot_held() const override { return first_pilot_held_; }
  uint64_t active_changes() const override { return active_changes_; }
  uint64_t fusion_faults() const override { return fusion_faults_; }

  const ControllerState& active() const override { return members_[current_.pilot]; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  // Members continue from the rate in force (PolyCC's step 4), so that a change of the active one causes no step.
  void OnTargetApplied(const TargetTransferRate& target) override;
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  // The policy with its inputs.
  struct Selector {
    PilotPolicy policy;
    TrustMeasure trust = {};
    IntervalAccumulator accumulator = {};
  };

  bool IsFused(size_t member) const;
  void RunPolicy(Timestamp now);
  void Fuse(ReceiverControlUpdate& update);

  std::vector<MemberState> members_;
  const PoolFunctions functions_;
  PoolSpecification specification_;
  Selection line_;  // from the specification
  Selection current_;
  // Null if the policy is fixed.
  std::unique_ptr<Selector> selector_;
  Objective objective_;
  DataRate target_ = DataRate::Zero();
  Timestamp started_at_ = Timestamp::MinusInfinity();
  Timestamp changed_at_ = Timestamp::MinusInfinity();
  TimeDelta first_pilot_held_ = TimeDelta::PlusInfinity();
  uint64_t active_changes_ = 0;
  uint64_t fusion_faults_ = 0;
};

std::optional<Error> Pool::Configure(const PoolSpecification& specification) {
  Selection line{.fusion = specification.fusion};
  const auto index = [this](const std::string& name) {
    return static_cast<size_t>(std::ranges::find(members_, name, &MemberState::name) - members_.begin());
  };
  const auto stranger = [](const std::string& name) {
    return Error{"\"" + name + "\" is no member of this pool; members are chosen when it is made"};
  };
  line.pilot = index(specification.pilot);
  if (line.pilot == members_.size()) return stranger(specification.pilot);
  for (const std::string& copilot : specification.copilots) {
    if (index(copilot) == members_.size()) return stranger(copilot);
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
  for (MemberState& member : members_) member.trust = 1;
  changed_at_ = Timestamp::MinusInfinity();
  return std::nullopt;
}

PoolController::Role Pool::role(size_t member) const {
  if (members_[member].suspended) return Role::kSuspended;
  if (member == current_.pilot) return Role::kPilot;
  return IsFused(member) ? Role::kCopilot : Role::kWatching;
}

void Pool::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  if (!started_at_.IsFinite()) {
    started_at_ = constraints.at_time;
    target_ = constraints.start_rate;
    if (selector_) selector_->accumulator.Start(started_at_);
  }
  Supervisor::OnTargetRateConstraints(constraints);
}

void Pool::OnObjective(const Objective& objective) {
  objective_ = objective;
  Supervisor::OnObjective(objective);
}

void Pool::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  if (selector_) selector_->accumulator.OnRoundTripTime(update.round_trip_time);
  Supervisor::OnRoundTripTimeUpdate(update);
}

void Pool::OnArrival(const Arrival& arrival) {
  Supervisor::OnArrival(arrival);
  if (selector_) selector_->accumulator.OnArrival(arrival);
}

void Pool::OnTargetApplied(const TargetTransferRate& target) {
  target_ = target.target_rate;
  Supervisor::OnTargetApplied(target);
}

ReceiverControlUpdate Pool::OnTimeout(Timestamp now) {
  bool any = false;
  bool policy_is_due = false;
  for (size_t i = 0; i < members_.size(); ++i) {
    const bool is_active = i == current_.pilot;
    if (!Poll(i, members_[i], is_active, now)) continue;
    members_[i].decisions_as_active += is_active && members_[i].faults_in_a_row == 0;
    // A controller without further decisions would stay active forever.
    const bool pilot_is_done = !controller(current_.pilot).next_timeout().IsFinite();
    policy_is_due |= is_active || (i == line_.pilot && pilot_is_done);
    any |= is_active || IsFused(i);
  }
  if (policy_is_due && selector_) RunPolicy(now);
  any |= PollFallback(now);
  if (!any) return {};
  ReceiverControlUpdate update = Update();
  if (update.target_rate) Fuse(update);
  return update;
}

bool Pool::IsFused(size_t member) const {
  return current_.fusion != FusionKind::kPilotOnly && member != current_.pilot &&
         (current_.copilots & SetOf(member)) != 0 && !members_[member].suspended && members_[member].rate;
}

void Pool::RunPolicy(Timestamp now) {
  const IntervalStatistics statistics = selector_->accumulator.Take(now, target_);
  const PoolView view{.now = now,
                      .objective = objective_,
                      .target = target_,
                      .statistics = statistics,
                      .members = members_,
                      .line = line_,
                      .current = current_};
  members_[line_.pilot].trust = selector_->trust.Update(view);
  Selection wanted = selector_->policy(view);
  const bool settles = now - changed_at_ < kMinActiveTime && !active().suspended;
  if (wanted.pilot >= members_.size() || settles) wanted.pilot = current_.pilot;
  if (wanted.pilot != current_.pilot) {
    changed_at_ = now;
    if (active_changes_++ == 0) first_pilot_held_ = now - started_at_;
  }
  current_ = wanted;
}

void Pool::Fuse(ReceiverControlUpdate& update) {
  const DataRate pilot = *update.target_rate;
  std::array<DataRate, kMaxCopilots> rates{pilot, pilot, pilot, pilot, pilot, pilot, pilot};
  size_t count = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (IsFused(i)) rates[count++] = *members_[i].rate;
  }
  const Fusion fusion{current_.fusion, specification_.fusion_target, &functions_.fusion};
  const FusedRate fused = FuseRates(fusion, pilot, std::span(rates).first(count));
  fusion_faults_ += fused.fault;
  if (fused.from_copilot) update.source = TargetSource::kCandidate;
  update.target_rate = fused.rate;
}

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
  auto pool = std::make_unique<Pool>(std::move(fallback), std::move(functions));
  std::vector<std::string> names{specification.pilot};
  names.insert(names.end(), specification.copilots.begin(), specification.copilots.end());
  for (std::string& name : names) {
    const bool is_tolerant_rule = name == "rule" && names.size() > 1;
    auto made = is_tolerant_rule ? OrRule(nullptr) : make_member(name);
    if (!made) return Error{names.size() > 1 ? "pool member " + name + ": " + made.error() : made.error()};
    if (made.value()->AsSupervised()) return Error{"pool member " + name + ": is a pool itself"};
    pool->AddMember(std::move(name), std::move(made.value()));
  }
  if (auto error = pool->Configure(specification)) return std::move(*error);
  return std::unique_ptr<PoolController>(std::move(pool));
}

}  // namespace weir
