// A pool of controllers, after PolyCC (SIGCOMM 2023, section 2). All members receive the same packets, fusion combines
// their targets into one rate, and a policy may change the active controller. PolyCC calls the active controller the
// pilot and the candidates copilots.
#ifndef WEIR_ESTIMATOR_SRC_POOL_POOL_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_POOL_POOL_CONTROLLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "controllers/supervisor.h"
#include "pool/fusion.h"
#include "pool/pilot_policy.h"
#include "pool/pool_specification.h"
#include "weir/result.h"
#include "weir/supervised_controller.h"

namespace weir {

// Custom functions, for `fusion=user` and `policy=user`.
struct PoolFunctions {
  FusionFunction fusion = nullptr;
  PilotPolicy policy = nullptr;
};

// Makes the member with that name, or returns the error, one sentence for the user.
using MemberFactory = std::function<Result<std::unique_ptr<ReceiverController>>(const std::string& member)>;

// Supervises each member individually, with one fallback for the active one. After warm-up only Configure() allocates.
class PoolController final : public Supervisor {
 public:
  enum class Role : uint8_t {
    kPilot,
    kCopilot,   // its target is fused
    kWatching,  // polled; its target is not fused
    kSuspended,
  };

  // A null `fallback` stands for the ten-line rule. Invariant: a pilot that keeps a free path at the minimum cannot
  // keep the others there, so the member "rule" tolerates sparse packets, as the fallback does. The error names the
  // member that cannot be made, or the missing function.
  static Result<std::unique_ptr<PoolController>> Create(const PoolSpecification& specification,
                                                        const MemberFactory& make_member, PoolFunctions functions = {},
                                                        std::unique_ptr<ReceiverController> fallback = nullptr);
  // Changes pilot, copilots, fusion and policy, also during a call. Other members are still polled. Changes nothing if
  // it returns an error: an unknown member or a missing function.
  [[nodiscard]] std::optional<Error> Configure(const PoolSpecification& specification);

  std::span<const MemberState> members() const { return members_; }
  Role role(size_t member) const;
  const Selection& selection() const { return current_; }
  // The latest specification.
  const PoolSpecification& specification() const { return specification_; }
  // Time from the start until the policy first changed the active controller.
  TimeDelta first_pilot_held() const { return first_pilot_held_; }
  // Number of times that the policy changed the active controller.
  uint64_t active_changes() const { return active_changes_; }
  // Number of rates of a custom fusion that were outside those that it fused.
  uint64_t fusion_faults() const { return fusion_faults_; }

  const ControllerState& active() const override { return members_[current_.pilot]; }
  static constexpr char kKind{};
  const void* kind() const override { return &kKind; }
  std::string_view name() const override { return "pool"; }
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

  PoolController(std::unique_ptr<ReceiverController> fallback, PoolFunctions functions)
      : Supervisor(std::move(fallback)), functions_(std::move(functions)) {}

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

std::string_view ToString(PoolController::Role role);

// Returns null unless the controller is a pool.
inline const PoolController* PoolIn(const SupervisedController& controller) {
  return controller.kind() == &PoolController::kKind ? static_cast<const PoolController*>(&controller) : nullptr;
}
inline PoolController* PoolIn(SupervisedController& controller) {
  return const_cast<PoolController*>(PoolIn(std::as_const(controller)));
}

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_POOL_CONTROLLER_H_
