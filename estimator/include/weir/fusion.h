// One rate out of several controllers', after PolyCC (SIGCOMM 2023, section 2): one pilot, any number of copilots, a
// function of their rates.
#ifndef WEIR_FUSION_H_
#define WEIR_FUSION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "weir/units.h"

namespace weir {

struct Fusion {
  enum class Kind : uint8_t {
    kPilotOnly,  // the copilots only watch
    kMax,
    kMin,
    kMedian,   // of an even number the geometric mean of the two in the middle
    kMean,     // geometric
    kClosest,  // the rate closest to `target`
    kUser,     // `function`
  };
  // Gets the rates of the copilots that have a vote. Must neither throw nor allocate; is not called when the pilot has
  // no rate.
  using Function = std::function<DataRate(DataRate pilot, std::span<const DataRate> copilots)>;

  Kind kind = Kind::kPilotOnly;
  DataRate target = DataRate::Zero();
  Function function = nullptr;
};

// By `Fusion::Kind`, as a pool's line names them.
inline constexpr std::array<std::string_view, 7> kFusionNames{"pilot", "max",     "min", "median",
                                                              "mean",  "closest", "user"};
constexpr std::string_view ToString(Fusion::Kind kind) { return kFusionNames[static_cast<size_t>(kind)]; }

// Rates beyond so many copilots' are not looked at.
inline constexpr size_t kMaxCopilots = 7;

struct FusedRate {
  DataRate rate = DataRate::Zero();
  // True when the rate is not the pilot's own.
  bool from_copilot = false;
  // True when the user's function gave a rate below or above all that it was given; `rate` is then the pilot's.
  bool fault = false;
};

// Of finite rates above 0. Between equals the pilot wins, then the earlier copilot. kUser without a function is
// kPilotOnly.
FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots);

}  // namespace weir

#endif  // WEIR_FUSION_H_
