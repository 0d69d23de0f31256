// One rate out of several controllers', after PolyCC: one pilot, any number of copilots, a function of their rates.
#ifndef WEIR_FUSION_H_
#define WEIR_FUSION_H_

#include <functional>
#include <optional>
#include <span>

#include "weir/units.h"

namespace weir {

struct Fusion {
  enum class Kind {
    kPilotOnly,  // the copilots only watch
    kMax,
    kMin,
    kClosest,  // the rate closest to `target`
    kUser,     // `function`
  };
  // Gets the rates of the copilots that have one. Must not throw; is not called when the pilot has no rate.
  using Function = std::function<DataRate(DataRate pilot, std::span<const DataRate> copilots)>;

  Kind kind = Kind::kPilotOnly;
  DataRate target = DataRate::Zero();
  Function function = nullptr;
};

struct FusedRate {
  DataRate rate;
  // True when the rate is not the pilot's own.
  bool from_copilot;
};

// Between equals the pilot wins, then the earlier copilot. kUser without a function is kPilotOnly.
FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots);

}  // namespace weir

#endif  // WEIR_FUSION_H_
