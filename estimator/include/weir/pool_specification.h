// The text form of a pool: its members, the fusion of their targets, and the policy that changes the active one.
#ifndef WEIR_POOL_SPECIFICATION_H_
#define WEIR_POOL_SPECIFICATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

inline constexpr size_t kMaxCopilots = 7;

enum class FusionKind : uint8_t {
  kPilotOnly,
  kMax,
  kMin,
  kMedian,   // for an even number: the geometric mean of the middle two
  kMean,     // geometric
  kClosest,  // the rate closest to PoolSpecification::fusion_target
  kUser,     // PoolFunctions::fusion
};
inline constexpr std::array<std::string_view, 7> kFusionNames{"pilot", "max",     "min", "median",
                                                              "mean",  "closest", "user"};
constexpr std::string_view ToString(FusionKind kind) { return kFusionNames[static_cast<size_t>(kind)]; }

enum class PilotPolicyKind : uint8_t {
  kFixed,
  // Fusion is kMin while the weight of latency is 0.6 or more, kMax while that of throughput is, and the
  // specification's otherwise.
  kByObjective,
  // A pilot that is suspended, or whose trust is below 0.3 for half a second, is replaced by the first copilot with a
  // target, with kMean if the specification has no fusion. After five seconds above 0.6 it is active again.
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

// True for the text of a specification, since no controller's name contains "=".
constexpr bool IsPoolLine(std::string_view text) { return text.find('=') != std::string_view::npos; }

// The error contains the position of the character, counted from 1.
Result<PoolSpecification> ParsePool(std::string_view line);
// Returns the shortest text that ParsePool() reads back as the same specification.
std::string ToString(const PoolSpecification& pool);

}  // namespace weir

#endif  // WEIR_POOL_SPECIFICATION_H_
