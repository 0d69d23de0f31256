#include "weir/pool/controller_pool.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "weir/controllers/rule_controller.h"

namespace weir {
namespace {

std::unique_ptr<RateController> OrRule(std::unique_ptr<RateController> controller) {
  if (controller) return controller;
  return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
}

}  // namespace

std::string_view ToString(ControllerPool::Role role) {
  constexpr std::array<std::string_view, 4> kNames{"pilot", "copilot", "watching", "suspended"};
  return kNames[static_cast<size_t>(role)];
}

ControllerPool::ControllerPool(std::unique_ptr<RateController> only, std::unique_ptr<RateController> fallback)
    : fallback_(OrRule(std::move(fallback))) {
  only = OrRule(std::move(only));
  assert(only->side() == RateController::Side::kReceiver);
  specification_.pilot = only->name();
  members_.push_back({.name = specification_.pilot});
  controllers_.push_back(std::move(only));
}

Result<ControllerPool> ControllerPool::Create(const PoolSpecification& specification, const MemberFactory& make_member,
                                              PoolFunctions functions, std::unique_ptr<RateController> fallback) {
  if (specification.copilots.size() > kMaxCopilots) return Error{"a pool has at most 7 copilots"};
  ControllerPool pool;
  std::vector<std::string> names{specification.pilot};
  names.insert(names.end(), specification.copilots.begin(), specification.copilots.end());
  for (const std::string& name : names) {
    auto made = make_member(name);
    if (!made) return Error{names.size() > 1 ? "pool member " + name + ": " + made.error() : made.error()};
    if (made.value()->side() != RateController::Side::kReceiver)
      return Error{"pool member " + name + ": decides at the sender, and the pool's place is the receiver"};
    pool.members_.push_back({.name = name});
    pool.controllers_.push_back(std::move(made.value()));
  }
  pool.fallback_ = OrRule(std::move(fallback));
  pool.functions_ = std::move(functions);
  if (auto error = pool.SetLine(specification)) return std::move(*error);
  return pool;
}

std::optional<Error> ControllerPool::SetLine(const PoolSpecification& specification) {
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
  if (specification.fusion == Fusion::Kind::kUser && !functions_.fusion)
    return Error{"fusion=user needs a function, which only a program that links the library can give"};
  if (specification.policy == PilotPolicyKind::kUser && !functions_.policy)
    return Error{"policy=user needs a function, which only a program that links the library can give"};
  specification_ = specification;
  line_ = current_ = line;
  fusion_ = {.kind = line.fusion, .target = specification.fusion_target, .function = functions_.fusion};
  policy_ = specification.policy == PilotPolicyKind::kUser ? functions_.policy : MakePilotPolicy(specification.policy);
  trust_ = TrustMeasure(specification.trust);
  for (MemberState& member : members_) member.trust = 1;
  accumulator_ = {};
  changed_at_ = Timestamp::MinusInfinity();
  return std::nullopt;
}

std::optional<Error> ControllerPool::Replace(std::string_view member, std::unique_ptr<RateController> controller,
                                             const TargetRateConstraints& constraints,
                                             const std::optional<RoundTripTimeUpdate>& round_trip_time, Timestamp now) {
  const auto found = std::ranges::find(members_, member, &MemberState::name);
  if (found == members_.end()) return Error{std::string("\"").append(member).append("\" is no member of this pool")};
  if (!controller || controller->side() != RateController::Side::kReceiver)
    return Error{"what takes the place of a member decides at the receiver"};
  if (now.IsFinite()) {
    controller->OnTargetRateConstraints(constraints, now);
    controller->OnObjective(objective_);
    if (round_trip_time) controller->OnRoundTripTimeUpdate(*round_trip_time);
    controller->OnTargetApplied(target_, now);
  }
  *found = {.name = std::move(found->name)};
  const auto index = static_cast<size_t>(found - members_.begin());
  if (index == line_.pilot) trust_ = TrustMeasure(specification_.trust);
  controllers_[index] = std::move(controller);
  return std::nullopt;
}

template <class Function>
void ControllerPool::ForEachController(Function function) {
  for (const auto& controller : controllers_) function(*controller);
  function(*fallback_);
}

void ControllerPool::Start(const TargetRateConstraints& constraints, const Objective& objective,
                           const std::optional<RoundTripTimeUpdate>& round_trip_time, Timestamp now) {
  objective_ = objective;
  target_ = constraints.start_rate;
  started_at_ = now;
  accumulator_.Start(now);
  ForEachController([&](RateController& controller) {
    controller.OnTargetRateConstraints(constraints, now);
    controller.OnObjective(objective);
    if (round_trip_time) controller.OnRoundTripTimeUpdate(*round_trip_time);
  });
}

void ControllerPool::OnArrival(const Arrival& arrival) {
  ForEachController([&](RateController& controller) { controller.OnArrival(arrival); });
  if (policy_) accumulator_.OnArrival(arrival);
}

void ControllerPool::OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  ForEachController([&](RateController& controller) { controller.OnTargetRateConstraints(constraints, now); });
}

void ControllerPool::OnObjective(const Objective& objective) {
  objective_ = objective;
  ForEachController([&](RateController& controller) { controller.OnObjective(objective); });
}

void ControllerPool::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  accumulator_.OnRoundTripTime(update.round_trip_time);
  ForEachController([&](RateController& controller) { controller.OnRoundTripTimeUpdate(update); });
}

void ControllerPool::OnTargetApplied(DataRate target, Timestamp now) {
  target_ = target;
  const bool to_each_its_own = specification_.feedback == MemberFeedback::kOwn;
  for (size_t i = 0; i < members_.size(); ++i) {
    controllers_[i]->OnTargetApplied(to_each_its_own ? members_[i].rate.value_or(target) : target, now);
  }
  fallback_->OnTargetApplied(target, now);
}

bool ControllerPool::HasVote(size_t member) const {
  return current_.fusion != Fusion::Kind::kPilotOnly && member != current_.pilot &&
         (current_.copilots & SetOf(member)) != 0 && !members_[member].suspended && members_[member].rate;
}

ControllerPool::Role ControllerPool::role(size_t member) const {
  if (members_[member].suspended) return Role::kSuspended;
  if (member == current_.pilot) return Role::kPilot;
  return HasVote(member) ? Role::kCopilot : Role::kWatching;
}

bool ControllerPool::OnTimeout(Timestamp now) {
  bool any = false;
  bool pilot_was_due = false;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!Ask(i, now)) continue;
    // One that has said all it will say would keep the seat for ever.
    const bool seat_is_silent = !controllers_[current_.pilot]->next_timeout().IsFinite();
    pilot_was_due |= i == current_.pilot || (i == line_.pilot && seat_is_silent);
    any |= i == current_.pilot || HasVote(i);
  }
  if (pilot_was_due && policy_) AskPolicy(now);
  any |= AskFallback(now);
  return any;
}

// The target that a controller gives when it is due; nothing when it is a fault.
std::optional<DataRate> ControllerPool::AskTarget(RateController& controller, Timestamp now) {
  const auto& [clock, longest] = decision_limit_;
  const Timestamp asked = clock ? clock() : now;
  const NetworkControlUpdate update = controller.OnTimeout(now);
  if (clock && clock() - asked > longest) {
    ++counters_.late_decisions;
    return std::nullopt;
  }
  if (!update.target_rate) return std::nullopt;
  const DataRate rate = update.target_rate->target_rate;
  return rate.IsFinite() && rate > DataRate::Zero() ? std::optional(rate) : std::nullopt;
}

bool ControllerPool::Ask(size_t index, Timestamp now) {
  if (controllers_[index]->next_timeout() > now) return false;
  MemberState& member = members_[index];
  const bool is_pilot = index == current_.pilot;
  const std::optional<DataRate> rate = AskTarget(*controllers_[index], now);
  if (!rate) {
    ++member.faults;
    counters_.pilot_faults += is_pilot;
    member.decisions_in_a_row = 0;
    member.faults_in_a_row = std::min(member.faults_in_a_row + 1, kFaultsToFallback);
    if (member.faults_in_a_row == kFaultsToFallback) member.suspended = true;
    return true;
  }
  member.rate = rate;
  member.share_outside_training = controllers_[index]->share_outside_training();
  ++member.decisions;
  member.decisions_as_pilot += is_pilot;
  counters_.pilot_decisions += is_pilot;
  member.faults_in_a_row = 0;
  member.decisions_in_a_row = std::min(member.decisions_in_a_row + 1, kDecisionsToRecover);
  if (member.decisions_in_a_row == kDecisionsToRecover) member.suspended = false;
  return true;
}

// Also while the pilot is well: the fallback's windows must be warm when it is needed.
bool ControllerPool::AskFallback(Timestamp now) {
  if (fallback_->next_timeout() > now) return false;
  const std::optional<DataRate> rate = AskTarget(*fallback_, now);
  if (rate) fallback_rate_ = rate;
  if (!rate || !pilot_suspended()) return false;
  ++counters_.fallback_decisions;
  return true;
}

void ControllerPool::AskPolicy(Timestamp now) {
  const IntervalStatistics statistics = accumulator_.Take(now, target_);
  const PoolView view{.now = now,
                      .objective = objective_,
                      .target = target_,
                      .statistics = statistics,
                      .members = members_,
                      .line = line_,
                      .current = current_};
  trust_.Update(view, members_);
  Selection wanted = policy_(view);
  const bool settles = now - changed_at_ < kMinTimeInSeat && !pilot_suspended();
  if (wanted.pilot >= members_.size() || settles) wanted.pilot = current_.pilot;
  if (wanted.pilot != current_.pilot) {
    changed_at_ = now;
    if (counters_.pilot_changes++ == 0) counters_.first_pilot_held = now - started_at_;
  }
  current_ = wanted;
  fusion_.kind = wanted.fusion;
}

ControllerPool::Advice ControllerPool::Fuse() {
  const MemberState& pilot = members_[current_.pilot];
  if (!pilot.suspended && pilot.faults_in_a_row > 0) return {.source = Advice::Source::kHeld};
  const std::optional<DataRate>& seat = pilot.suspended ? fallback_rate_ : pilot.rate;
  if (!seat) return {};
  std::array<DataRate, kMaxCopilots> votes{*seat, *seat, *seat, *seat, *seat, *seat, *seat};
  size_t count = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (HasVote(i)) votes[count++] = *members_[i].rate;
  }
  const FusedRate fused = FuseRates(fusion_, *seat, std::span(votes).first(count));
  counters_.fusion_faults += fused.fault;
  if (fused.from_copilot) return {Advice::Source::kCopilot, fused.rate};
  return {pilot.suspended ? Advice::Source::kFallback : Advice::Source::kPilot, fused.rate};
}

Timestamp ControllerPool::next_timeout() const {
  Timestamp next = fallback_->next_timeout();
  for (const auto& controller : controllers_) next = std::min(next, controller->next_timeout());
  return next;
}

}  // namespace weir
