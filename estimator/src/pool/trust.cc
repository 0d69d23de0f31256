#include "weir/pool/trust.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace weir {
namespace {

struct Bounds {
  // All is well up to `good`, and nothing from `bad` on.
  double good;
  double bad;

  double Trust(double value) const { return std::clamp((bad - value) / (bad - good), 0.0, 1.0); }
};
constexpr Bounds kDisagreement{1.0, 1.5};
constexpr Bounds kStarvation{0.3, 0.8};
constexpr Bounds kOutsideTraining{0.25, 0.32};

}  // namespace

double TrustMeasure::OfPilot(const PoolView& view) {
  const MemberState& pilot = view.members[view.line.pilot];
  if (!pilot.rate) return 1;
  constexpr DataRate kNone = DataRate::Zero();
  std::array<DataRate, kMaxCopilots> rates{kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  size_t count = 0;
  for (size_t i = 0; i < view.members.size(); ++i) {
    const MemberState& member = view.members[i];
    if (i != view.line.pilot && member.rate && !member.suspended) rates[count++] = *member.rate;
  }
  const std::span<const DataRate> others = std::span(rates).first(count);
  disagreement_.Add(*pilot.rate, others, view.statistics.interval_s);
  starvation_.Add(*pilot.rate, others, view.target, view.statistics, view.now);
  outside_training_.Add(pilot.share_outside_training, view.statistics.interval_s);
  double trust = 1;
  if (Counts(TrustSignal::kDisagreement)) trust = std::min(trust, kDisagreement.Trust(disagreement_.powers_of_two()));
  if (Counts(TrustSignal::kStarvation)) trust = std::min(trust, kStarvation.Trust(starvation_.share()));
  if (Counts(TrustSignal::kUnfamiliarity)) trust = std::min(trust, kOutsideTraining.Trust(outside_training_.value()));
  return trust;
}

void TrustMeasure::Update(const PoolView& view, std::span<MemberState> members) {
  members[view.line.pilot].trust = OfPilot(view);
}

}  // namespace weir
