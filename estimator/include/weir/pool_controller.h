// The controller of an estimator: one or several controllers and a fallback, after PolyCC's controller pool (SIGCOMM
// 2023, section 2). All members get the same packets; fusion makes one rate of their targets, and a policy may change
// the active controller. In PolyCC's terms the pilot is the active controller, and copilots are the candidates.
#ifndef WEIR_POOL_CONTROLLER_H_
#define WEIR_POOL_CONTROLLER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/network_controller.h"
#include "weir/result.h"

namespace weir {

struct IntervalStatistics;

inline constexpr size_t kMaxCopilots = 7;
// One bit for each member of a pool, by its index.
using MemberSet = uint32_t;
constexpr MemberSet SetOf(size_t member) { return MemberSet{1} << member; }

enum class FusionKind : uint8_t {
  kPilotOnly,
  kMax,
  kMin,
  kMedian,   // of an even number: the geometric mean of the two in the middle
  kMean,     // geometric
  kClosest,  // the rate closest to PoolSpecification::fusion_target
  kUser,     // PoolFunctions::fusion
};
inline constexpr std::array<std::string_view, 7> kFusionNames{"pilot", "max",     "min", "median",
                                                              "mean",  "closest", "user"};
constexpr std::string_view ToString(FusionKind kind) { return kFusionNames[static_cast<size_t>(kind)]; }

enum class PilotPolicyKind : uint8_t {
  kFixed,
  // Fusion is kMin while latency weighs 0.6 or more, kMax while throughput does, else the specification's.
  kByObjective,
  // A pilot that is suspended, or whose trust is below 0.3 for half a second, is replaced by the first copilot with a
  // target, under kMean where the specification has no fusion. After five seconds above 0.6 it is active again.
  kByTrust,
  kUser,  // PoolFunctions::policy
};
inline constexpr std::array<std::string_view, 4> kPilotPolicyNames{"fixed", "by_objective", "by_trust", "user"};
constexpr std::string_view ToString(PilotPolicyKind kind) { return kPilotPolicyNames[static_cast<size_t>(kind)]; }

// A pool as text:
//
//   pilot=weir copilots=nada,rule fusion=min policy=by_trust
//
//   pilot=MEMBER            the controller that is active at first; required
//   copilots=MEMBER,...     at most 7; their order breaks ties
//   fusion=pilot | max | min | median | mean | closest:BITS_PER_SECOND | user
//   policy=fixed | by_objective | by_trust | user
//
// Each part occurs at most once, in any order. A MEMBER is a controller's name of lower-case letters, digits, "-" and
// "_", with an optional detail after ":", as in weir:FILE.onnx, in printable ASCII without spaces and commas.
struct PoolSpecification {
  std::string pilot;
  std::vector<std::string> copilots = {};
  FusionKind fusion = FusionKind::kPilotOnly;
  // For kClosest: above 0, at most 10^12 bit/s.
  DataRate fusion_target = DataRate::Zero();
  PilotPolicyKind policy = PilotPolicyKind::kFixed;

  friend bool operator==(const PoolSpecification&, const PoolSpecification&) = default;
};

inline constexpr size_t kMaxPoolLineBytes = 1024;

// True for the text of a specification: no controller's name has "=".
constexpr bool IsPoolLine(std::string_view text) { return text.find('=') != std::string_view::npos; }

// The error gives the character, counted from 1.
Result<PoolSpecification> ParsePool(std::string_view line);
// The shortest form, which ParsePool() reads back as the same.
std::string ToString(const PoolSpecification& pool);

// A decision that takes longer than `longest` by `clock` is dropped and counts as a fault; for hosts in real time.
// Without a clock no decision is late.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

// The record of one polled controller.
struct MemberState {
  std::string name;
  std::optional<DataRate> rate = std::nullopt;
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // Its targets do not count, see PoolController.
  bool suspended = false;
  // 0 to 1, see PilotPolicyKind::kByTrust.
  double trust = 1;
  uint64_t decisions = 0;
  uint64_t decisions_as_active = 0;
  uint64_t faults = 0;
};

struct ControllerCounters {
  uint64_t decisions = 0;           // targets of the active controller
  uint64_t faults = 0;              // its missing or invalid targets
  uint64_t fallback_decisions = 0;  // targets of the fallback in its place
  uint64_t active_changes = 0;      // times a pool's policy changed the active controller
  uint64_t fusion_faults = 0;       // rates of a custom fusion that were outside those that it fused
  uint64_t late_decisions = 0;      // of any controller, see DecisionLimit; each is a fault too
};

struct Selection {
  size_t pilot = 0;
  // The candidates; the bits of the pilot and of suspended members have no meaning.
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
  Selection line;     // of the specification
  Selection current;  // in effect
};

// Fuses the pilot's rate with those of the candidates. Must neither throw nor allocate.
using FusionFunction = std::function<DataRate(DataRate pilot, std::span<const DataRate> copilots)>;
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

// Makes the member of that name, or returns the error, one sentence for the user.
using MemberFactory = std::function<Result<std::unique_ptr<ReceiverController>>(const std::string& member)>;

// Polls each member when it is due, and the fallback. At a fault of the active controller the rate in force is held;
// after kFaultsToFallback faults in a row the controller is suspended and the fallback decides. A suspended controller
// is still polled, and decides again after kDecisionsToRecover valid targets in a row.
//
// After warm-up only Configure() allocates.
class PoolController : public ReceiverController {
 public:
  enum class Role : uint8_t {
    kPilot,
    kCopilot,   // its target is fused
    kWatching,  // polled; its target is not fused
    kSuspended,
  };
  static constexpr int kFaultsToFallback = 3;
  static constexpr int kDecisionsToRecover = 20;

  // Null for `fallback`: the ten-line rule. Invariant: a pilot that keeps a free path at the minimum cannot keep the
  // others there, so the member "rule" tolerates sparse packets, as the fallback does. The error names the member that
  // cannot be made, or the missing function.
  static Result<std::unique_ptr<PoolController>> Create(const PoolSpecification& specification,
                                                        const MemberFactory& make_member, PoolFunctions functions = {},
                                                        std::unique_ptr<ReceiverController> fallback = nullptr);
  // A pool of one member, which has the controller's name. Null for either: the ten-line rule, tolerant of sparse
  // packets.
  static std::unique_ptr<PoolController> Of(std::unique_ptr<ReceiverController> controller,
                                            std::unique_ptr<ReceiverController> fallback = nullptr);
  // Changes pilot, copilots, fusion and policy, also in a call; other members are still polled. On an error, an unknown
  // member or a missing function, nothing changes.
  [[nodiscard]] virtual std::optional<Error> Configure(const PoolSpecification& specification) = 0;
  virtual void SetDecisionLimit(DecisionLimit limit) = 0;

  virtual const ControllerCounters& counters() const = 0;
  virtual std::span<const MemberState> members() const = 0;
  virtual Role role(size_t member) const = 0;
  // The active controller.
  virtual const MemberState& active() const = 0;
  virtual const Selection& selection() const = 0;
  // The latest specification.
  virtual const PoolSpecification& specification() const = 0;
  // From the start until the policy first changed the active controller.
  virtual TimeDelta first_pilot_held() const = 0;

  PoolController* AsPool() final { return this; }
};

std::string_view ToString(PoolController::Role role);

}  // namespace weir

#endif  // WEIR_POOL_CONTROLLER_H_
