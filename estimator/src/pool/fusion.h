// One rate out of several controllers', after PolyCC (SIGCOMM 2023, section 2).
#ifndef WEIR_ESTIMATOR_SRC_POOL_FUSION_H_
#define WEIR_ESTIMATOR_SRC_POOL_FUSION_H_

#include <functional>
#include <span>

#include "pool/pool_specification.h"
#include "weir/units.h"

namespace weir {

// Fuses the pilot's rate with those of the candidates. Must neither throw nor allocate.
using FusionFunction = std::function<DataRate(DataRate pilot, std::span<const DataRate> copilots)>;

struct Fusion {
  FusionKind kind = FusionKind::kPilotOnly;
  DataRate target = DataRate::Zero();
  const FusionFunction* function = nullptr;
};

struct FusedRate {
  DataRate rate = DataRate::Zero();
  // The rate is not the pilot's own.
  bool from_copilot = false;
  // The custom function gave a rate below or above all that it was given; `rate` is then the pilot's.
  bool fault = false;
};

// Rates are finite and above 0; those beyond kMaxCopilots are ignored. Between equals the pilot wins, then the earlier
// copilot. kUser without a function is kPilotOnly.
FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots);

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_FUSION_H_
