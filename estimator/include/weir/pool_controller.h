// A pool of controllers, after PolyCC (SIGCOMM 2023, section 2). All members receive the same packets, fusion combines
// their targets into one rate, and a policy may change the active controller. PolyCC calls the active controller the
// pilot and the candidates copilots.
#ifndef WEIR_POOL_CONTROLLER_H_
#define WEIR_POOL_CONTROLLER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weir/fusion.h"
#include "weir/interval_statistics.h"
#include "weir/network_controller.h"
#include "weir/objective.h"
#include "weir/pool_specification.h"
#include "weir/result.h"
#include "weir/supervised_controller.h"
#include "weir/units.h"

namespace weir {

// One bit for each member of a pool, by its index.
using MemberSet = uint32_t;
constexpr MemberSet SetOf(size_t member) { return MemberSet{1} << member; }

// State of one controller of a pool.
struct MemberState : ControllerState {
  // 0 to 1, see PilotPolicyKind::kByTrust.
  double trust = 1;
  uint64_t decisions_as_active = 0;
};

struct Selection {
  size_t pilot = 0;
  // The candidates. The bits of the pilot and of suspended members have no meaning.
  MemberSet copilots = 0;
  FusionKind fusion = FusionKind::kPilotOnly;

  friend bool operator==(const Selection&, const Selection&) = default;
};

// Input of a PilotPolicy.
struct PoolView {
  Timestamp now;
  Objective objective;
  DataRate target;                       // in force
  const IntervalStatistics& statistics;  // since the policy's previous call
  std::span<const MemberState> members;
  Selection line;     // from the specification
  Selection current;  // in effect
};

// Called after each decision of the active controller, or of the specification's pilot while the active one has no
// timeouts (`fixed`). Must neither throw nor allocate. An invalid index is ignored, and so is a change within
// kMinActiveTime of the previous one, unless the active controller is suspended.
using PilotPolicy = std::function<Selection(const PoolView&)>;
inline constexpr TimeDelta kMinActiveTime = TimeDelta::Seconds(5);

// Custom functions, for `fusion=user` and `policy=user`.
struct PoolFunctions {
  FusionFunction fusion = nullptr;
  PilotPolicy policy = nullptr;
};

// Makes the member with that name, or returns the error, one sentence for the user. Called once for each member, within
// PoolController::Create().
using MemberFactory = std::function<Result<std::unique_ptr<ReceiverController>>(const std::string& member)>;

// Supervises each member individually, with one fallback for the active one. After warm-up only Configure() allocates.
class PoolController : public SupervisedController {
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
  [[nodiscard]] virtual std::optional<Error> Configure(const PoolSpecification& specification) = 0;

  // The pilot of the first specification, then its copilots in their order.
  virtual std::span<const MemberState> members() const = 0;
  // `member` is an index of members().
  virtual Role role(size_t member) const = 0;
  // The selection in effect.
  virtual const Selection& selection() const = 0;
  // The latest specification.
  virtual const PoolSpecification& specification() const = 0;
  // Time from the start until the policy first changed the active controller; PlusInfinity before.
  virtual TimeDelta first_pilot_held() const = 0;
  // Number of times that the policy changed the active controller.
  virtual uint64_t active_changes() const = 0;
  // Number of rates of a custom fusion that were outside those that it fused.
  virtual uint64_t fusion_faults() const = 0;

  static constexpr char kKind{};
  const void* kind() const final { return &kKind; }
  std::string_view name() const final { return "pool"; }
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

#endif  // WEIR_POOL_CONTROLLER_H_
