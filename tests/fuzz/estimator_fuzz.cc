#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz_input.h"
#include "fuzz_targets.h"
#include "made_estimator.h"
#include "registry.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/testing/mock_controllers.h"

namespace weir::fuzz {
namespace {

// Gives any rate, or none.
class WildController final : public MockReceiverController {
 public:
  explicit WildController(uint64_t seed) : MockReceiverController(nullptr), random_(seed | 1) {}

  std::string_view name() const override { return "wild"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    next_timeout_ = constraints.at_time;
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    // Also in the past, and never.
    next_timeout_ = random_ % 64 == 0 ? Timestamp::PlusInfinity()
                                      : now + TimeDelta::Micros(static_cast<int64_t>(random_ >> 44) - 9999);
    ReceiverControlUpdate update;
    if (random_ % 8 != 0) {
      update.target_rate = DataRate::BitsPerSecond(static_cast<int64_t>(random_) >> (random_ >> 16) % 64);
    }
    return update;
  }
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  uint64_t random_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

std::unique_ptr<ReceiverController> MakeController(FuzzInput& input) {
  const uint32_t choice = input.Choose(kBuiltInControllers.size() + 1);
  if (choice == kBuiltInControllers.size()) return std::make_unique<WildController>(input.Take<uint64_t>());
  return MakeBuiltInController(kBuiltInControllers[choice].name, DataRate::BitsPerSecond(input.TakeScaled()));
}

FusionKind TakeFusion(FuzzInput& input) { return static_cast<FusionKind>(input.Choose(kFusionNames.size())); }

// A selection among "m0" to "m7"; a pool need not have all of them.
PoolSpecification TakeSpecification(FuzzInput& input) {
  PoolSpecification pool{.pilot = MemberName(input.Choose(2)),
                         .fusion = TakeFusion(input),
                         .fusion_target = DataRate::BitsPerSecond(input.TakeScaled()),
                         .policy = static_cast<PilotPolicyKind>(input.Choose(kPilotPolicyNames.size()))};
  for (uint32_t i = input.Choose(4); i > 0; --i) pool.copilots.push_back(MemberName(input.Choose(8)));
  return pool;
}

std::unique_ptr<PoolController> MakePool(FuzzInput& input) {
  Controllers controllers = ControllersOf(MakeController(input));
  for (uint32_t i = input.Choose(8); i > 0; --i) controllers.push_back(MakeController(input));
  const uint64_t seed = input.Take<uint64_t>();
  PoolFunctions functions;
  functions.fusion = [](DataRate pilot, std::span<const DataRate> copilots) {
    return copilots.empty() ? pilot : copilots.back() * -2.0;
  };
  functions.policy = [random = seed | 1](const PoolView& view) mutable {
    random = random * 6364136223846793005u + 1442695040888963407u;
    Selection wanted = view.line;
    wanted.pilot = random >> 60;
    wanted.copilots = static_cast<MemberSet>(random >> 32);
    return wanted;
  };
  return PoolOf(std::move(controllers), {.pilot = {}, .fusion = TakeFusion(input)}, std::move(functions));
}

// All estimates of one run over the bytes: operations on a whole estimator, after each of which the invariants hold.
std::vector<Estimate> RunOperations(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  const auto given =
      Validated({DataRate::BitsPerSecond(input.TakeScaled()), DataRate::BitsPerSecond(input.TakeScaled()),
                 DataRate::BitsPerSecond(input.TakeScaled())});
  TargetRateConstraints constraints = given ? given.value() : TargetRateConstraints{};
  BandwidthEstimator estimator = MadeEstimator({constraints, kBalanced, input.Choose(2) == 0}, MakePool(input));

  std::vector<Estimate> estimates;
  Timestamp now = Timestamp::Micros(input.TakeScaled() / 4);
  uint16_t sequence_number = input.Take<uint16_t>();
  bool started = false;
  while (!input.empty()) {
    switch (input.Choose(9)) {
      case 0:
      case 1:
      case 2:
        estimator.OnPacket(TakePacket(input, now, sequence_number));
        break;
      case 3:
        now += TimeDelta::Micros(input.Take<uint16_t>());
        break;
      case 4: {
        // Steps of any size, backwards too; what is no time is ignored.
        const Timestamp at =
            input.Choose(4) == 0 ? now + TimeDelta::Micros(input.TakeScaled() / 8) : now + TimeDelta::Micros(1);
        if (!IsTime(at)) {
          WEIR_FUZZ_CHECK(!estimator.OnTimeout(at));
          break;
        }
        const auto estimate = estimator.OnTimeout(at);
        if (!started || at > now) {
          started = true;
          now = at;
          WEIR_FUZZ_CHECK(estimator.next_timeout() > at);
        }
        if (estimate) {
          WEIR_FUZZ_CHECK(estimate->target_rate == estimator.latest().target_rate);
          estimates.push_back(*estimate);
        }
        break;
      }
      case 5:
        if (const auto objective = NormalizedObjective(input.Take<float>(), input.Take<float>(), input.Take<float>())) {
          WEIR_FUZZ_CHECK(!estimator.SetObjective(*objective));
        }
        break;
      case 6: {
        const TargetRateConstraints wanted{DataRate::BitsPerSecond(input.TakeScaled()),
                                           DataRate::BitsPerSecond(input.TakeScaled()),
                                           DataRate::BitsPerSecond(input.TakeScaled()), now};
        const bool accepted = !estimator.SetConstraints(wanted);
        WEIR_FUZZ_CHECK(accepted == Validated(wanted).ok());
        if (accepted) constraints = wanted;
        break;
      }
      case 7:
        estimator.OnRoundTripTime(TimeDelta::Micros(input.TakeScaled()), now);
        break;
      case 8: {
        const auto error = PoolIn(estimator).Configure(TakeSpecification(input));
        WEIR_FUZZ_CHECK(!error || !error->message.empty());
        break;
      }
    }
    const DataRate target = estimator.latest().target_rate;
    WEIR_FUZZ_CHECK(target >= constraints.min_rate && target <= constraints.max_rate);
  }
  return estimates;
}

}  // namespace

void FuzzEstimator(std::span<const uint8_t> bytes) {
  const std::vector<Estimate> first = RunOperations(bytes);
  const std::vector<Estimate> second = RunOperations(bytes);
  WEIR_FUZZ_CHECK(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    WEIR_FUZZ_CHECK(first[i].at_time == second[i].at_time && first[i].target_rate == second[i].target_rate &&
                    first[i].reason == second[i].reason);
  }
}

}  // namespace weir::fuzz
