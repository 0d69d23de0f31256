// Fusion of the rates of several controllers, after PolyCC (SIGCOMM 2023, section 2).
#ifndef WEIR_FUSION_H_
#define WEIR_FUSION_H_

#include <functional>
#include <span>

#include "weir/pool_specification.h"
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
  // True if the rate is not the pilot's own.
  bool from_copilot = false;
  // True if the custom function returned a rate outside those that it received. `rate` is then the pilot's.
  bool fault = false;
};

// Rates must be finite and above 0. Those beyond kMaxCopilots are ignored. Ties go to the pilot, then to the earlier
// copilot. kUser without a function is kPilotOnly.
FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots);

}  // namespace weir

#endif  // WEIR_FUSION_H_
