#include "weir/fusion.h"

namespace weir {
namespace {

bool IsBetter(const Fusion& fusion, DataRate candidate, DataRate best) {
  const auto distance = [&](DataRate rate) {
    const DataRate difference = rate - fusion.target;
    return difference < DataRate::Zero() ? DataRate::Zero() - difference : difference;
  };
  switch (fusion.kind) {
    case Fusion::Kind::kMax:
      return candidate > best;
    case Fusion::Kind::kMin:
      return candidate < best;
    case Fusion::Kind::kClosest:
      return distance(candidate) < distance(best);
    case Fusion::Kind::kPilotOnly:
    case Fusion::Kind::kUser:
      break;
  }
  return false;
}

}  // namespace

FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots) {
  if (fusion.kind == Fusion::Kind::kUser && fusion.function) {
    const DataRate rate = fusion.function(pilot, copilots);
    return {rate, rate != pilot};
  }
  DataRate best = pilot;
  for (const DataRate candidate : copilots) {
    if (IsBetter(fusion, candidate, best)) best = candidate;
  }
  return {best, best != pilot};
}

}  // namespace weir
