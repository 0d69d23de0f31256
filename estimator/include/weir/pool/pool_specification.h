// The line that says all of a pool of controllers:
//
//   pilot=weir copilots=nada,rule fusion=min policy=by_trust
//
//   pilot=MEMBER            who sits in the pilot's seat at first; the only part that must be there
//   copilots=MEMBER,...     at most 7, for whom the order breaks ties
//   fusion=pilot | max | min | median | mean | closest:BITS_PER_SECOND | user
//                           pilot (the default): copilots only watch, unless the policy says otherwise
//   policy=fixed | by_objective | by_trust | user
//                           who changes seats in a call, see pilot_policy.h; fixed (the default): nobody
//   trust=SIGNAL,...        of by_trust: what trust is measured by, see trust.h; the default: all of disagreement,
//                           starvation, unfamiliarity
//   feedback=fused | own    what each member is told that it asked for: the rate in force, as all others (the default:
//                           PolyCC's step 4), or the rate that itself gave last
//
// Parts stand in any order, with spaces between them, each once. A MEMBER is a controller's name of lower-case letters,
// digits, "-" and "_", and may go on with ":" and which one, as in weir:FILE.onnx, in printable ASCII without spaces
// and commas. The host says which members it can make.
#ifndef WEIR_POOL_POOL_SPECIFICATION_H_
#define WEIR_POOL_POOL_SPECIFICATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/fusion.h"
#include "weir/result.h"

namespace weir {

enum class PilotPolicyKind : uint8_t { kFixed, kByObjective, kByTrust, kUser };
inline constexpr std::array<std::string_view, 4> kPilotPolicyNames{"fixed", "by_objective", "by_trust", "user"};
constexpr std::string_view ToString(PilotPolicyKind kind) { return kPilotPolicyNames[static_cast<size_t>(kind)]; }

enum class TrustSignal : uint8_t { kDisagreement, kStarvation, kUnfamiliarity };
inline constexpr std::array<std::string_view, 3> kTrustSignalNames{"disagreement", "starvation", "unfamiliarity"};
// One bit for each signal.
using TrustSignals = uint8_t;
constexpr TrustSignals SetOf(TrustSignal signal) {
  return static_cast<TrustSignals>(1U << static_cast<size_t>(signal));
}
inline constexpr TrustSignals kAllTrustSignals = (1U << kTrustSignalNames.size()) - 1;

enum class MemberFeedback : uint8_t { kFused, kOwn };
inline constexpr std::array<std::string_view, 2> kMemberFeedbackNames{"fused", "own"};

inline constexpr size_t kMaxPoolLineBytes = 1024;

struct PoolSpecification {
  std::string pilot;
  std::vector<std::string> copilots = {};
  Fusion::Kind fusion = Fusion::Kind::kPilotOnly;
  // Of kClosest: above 0, at most 10^12 bit/s.
  DataRate fusion_target = DataRate::Zero();
  PilotPolicyKind policy = PilotPolicyKind::kFixed;
  // At least one.
  TrustSignals trust = kAllTrustSignals;
  MemberFeedback feedback = MemberFeedback::kFused;

  friend bool operator==(const PoolSpecification&, const PoolSpecification&) = default;
};

// Whether a controller's name is meant as a pool's line: no name has "=".
constexpr bool IsPoolLine(std::string_view text) { return text.find('=') != std::string_view::npos; }

// The error says at which character of the line, counted from 1, what is wrong.
Result<PoolSpecification> ParsePool(std::string_view line);
// The line in its shortest form, which stands for the pool in records; what ParsePool() reads back as the same.
std::string ToString(const PoolSpecification& pool);

}  // namespace weir

#endif  // WEIR_POOL_POOL_SPECIFICATION_H_
