// A controller made of several: all see the same packets, each decides by its own logic, fusion makes one rate of their
// targets, and a policy may change the active one. After PolyCC's controller pool and congestion controller agent
// (SIGCOMM 2023, section 2), whose terms these are: the pilot is the active controller, copilots are the candidates.
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

#include "weir/fallback_controller.h"
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
  kMedian,   // the geometric mean of the two in the middle where their number is even
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
  // A pilot that is suspended, or whose trust is below 0.3 for half a second, becomes inactive and has no vote; above
  // 0.6 for five seconds it is active again. Meanwhile the first copilot with a target is active, under kMean where the
  // specification has no fusion.
  kByTrust,
  kUser,  // PoolFunctions::policy
};
inline constexpr std::array<std::string_view, 4> kPilotPolicyNames{"fixed", "by_objective", "by_trust", "user"};
constexpr std::string_view ToString(PilotPolicyKind kind) { return kPilotPolicyNames[static_cast<size_t>(kind)]; }

// A pool in one line of text:
//
//   pilot=weir copilots=nada,rule fusion=min policy=by_trust
//
//   pilot=MEMBER            the controller that is active at first; required
//   copilots=MEMBER,...     at most 7; their order breaks ties
//   fusion=pilot | max | min | median | mean | closest:BITS_PER_SECOND | user
//   policy=fixed | by_objective | by_trust | user
//
// Parts stand in any order, with spaces between them, each once. A MEMBER is a controller's name of lower-case letters,
// digits, "-" and "_", which ":" and a detail may follow, as in weir:FILE.onnx, in printable ASCII without spaces and
// commas. The host defines which members it can make.
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

// True for a pool's line: no controller's name has "=".
constexpr bool IsPoolLine(std::string_view text) { return text.find('=') != std::string_view::npos; }

// The error gives the character of the line, counted from 1.
Result<PoolSpecification> ParsePool(std::string_view line);
// The line in its shortest form, as in records; ParsePool() reads it back as the same.
std::string ToString(const PoolSpecification& pool);

struct Selection {
  size_t pilot = 0;
  // The members with a vote; the pilot's bit and those of suspended members have no meaning.
  MemberSet copilots = 0;
  FusionKind fusion = FusionKind::kPilotOnly;

  friend bool operator==(const Selection&, const Selection&) = default;
};

// Input of a PilotPolicy.
struct PoolView {
  Timestamp now;
  Objective objective;
  // In force.
  DataRate target;
  // Since the policy's previous call.
  const IntervalStatistics& statistics;
  std::span<const MemberState> members;
  // By the specification.
  Selection line;
  // In effect.
  Selection current;
};

// Fuses the pilot's rate with those of the copilots that have a vote. Must neither throw nor allocate. Not called while
// the pilot has no rate.
using FusionFunction = std::function<DataRate(DataRate pilot, std::span<const DataRate> copilots)>;
// Called after each decision of the active controller, or, while that one has no more to decide (`fixed`), of the
// specification's pilot. Must neither throw nor allocate. An index of no member is ignored, and so is a change within
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

// After warm-up nothing here allocates, Configure() excepted.
class PoolController final : public FaultTolerantController {
 public:
  enum class Role : uint8_t {
    kPilot,
    kCopilot,   // has a vote
    kWatching,  // is polled without a vote
    kSuspended,
  };

  // Null for `fallback`: the ten-line rule. The error names the member that cannot be made, or the missing function.
  static Result<std::unique_ptr<PoolController>> Create(const PoolSpecification& specification,
                                                        const MemberFactory& make_member, PoolFunctions functions = {},
                                                        std::unique_ptr<ReceiverController> fallback = nullptr);
  ~PoolController() override;

  // Changes pilot, copilots, fusion and policy, also in a call. Members that `specification` does not name are still
  // polled. The error, with nothing changed, when it names a member that the pool does not have, or needs a function
  // that the pool was not given.
  [[nodiscard]] std::optional<Error> Configure(const PoolSpecification& specification);

  const MemberState& pilot() const override { return members_[current_.pilot]; }
  Role role(size_t member) const;
  const Selection& selection() const { return current_; }
  // The latest specification.
  const PoolSpecification& specification() const { return specification_; }
  // From the start until the policy changed the active controller for the first time.
  TimeDelta first_pilot_held() const { return first_pilot_held_; }

  std::string_view name() const override { return "pool"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  // Members go on from the rate in force (PolyCC's step 4), so that a change of the active one is no step.
  void OnTargetApplied(const TargetTransferRate& target) override;
  NetworkControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Selector;

  explicit PoolController(std::unique_ptr<ReceiverController> fallback);
  bool HasVote(size_t member) const;
  void RunPolicy(Timestamp now);
  void Fuse(NetworkControlUpdate& update);

  PoolSpecification specification_;
  PoolFunctions functions_;
  Selection line_;
  Selection current_;
  // Null: the policy is fixed.
  std::unique_ptr<Selector> selector_;
  Objective objective_;
  DataRate target_ = DataRate::Zero();
  Timestamp started_at_ = Timestamp::MinusInfinity();
  Timestamp changed_at_ = Timestamp::MinusInfinity();
  TimeDelta first_pilot_held_ = TimeDelta::PlusInfinity();
};

// "pilot", "copilot", "watching", "suspended".
std::string_view ToString(PoolController::Role role);

}  // namespace weir

#endif  // WEIR_POOL_CONTROLLER_H_
