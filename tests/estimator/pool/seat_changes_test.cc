// A hundred changes of the active controller in a call cause no step in the rate and give the same bits every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "made_estimator.h"
#include "test_call.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"

namespace weir {
namespace {

constexpr int kChanges = 100;

BandwidthEstimator MakeEstimator() {
  auto pool = PoolController::Create(ParsePool("pilot=nada copilots=rule").value(),
                                     [](const std::string& name) -> Result<std::unique_ptr<ReceiverController>> {
                                       return MakeBuiltInController(name, DataRate::KilobitsPerSecond(1000));
                                     });
  // The guard's veto makes steps of its own over these members' queues.
  return MadeEstimator({.constraints = {}, .objective = {}, .guard_rules = WithoutRule("veto")},
                       std::move(pool.value()));
}

struct Recorded {
  std::vector<int64_t> rates_bps;
  // Largest relative step of the rate across a change, and across as many decisions in between.
  double largest_step = 0;
  double largest_step_without = 0;
};

// A call on 2 Mbps whose active controller changes every second from 30 s on.
Recorded Call() {
  BandwidthEstimator estimator = MakeEstimator();
  TestCall call(estimator, {.capacity = Steady(DataRate::KilobitsPerSecond(2000))});
  Recorded found;
  const auto step = [&](TimeDelta until) {
    const DataRate before = estimator.latest().target_rate;
    call.RunUntil(until);
    return std::abs(estimator.latest().target_rate / before - 1);
  };
  call.RunUntil(TimeDelta::Seconds(30));
  for (int i = 0; i < kChanges; ++i) {
    const TimeDelta now = TimeDelta::Seconds(30 + i);
    EXPECT_FALSE(PoolIn(estimator).Configure(ParsePool(i % 2 == 0 ? "pilot=rule" : "pilot=nada").value()));
    found.largest_step = std::max(found.largest_step, step(now + TimeDelta::Millis(100)));
    call.RunUntil(now + TimeDelta::Millis(900));
    found.largest_step_without = std::max(found.largest_step_without, step(now + TimeDelta::Seconds(1)));
  }
  for (const TestCall::Target& target : call.feedback()) {
    found.rates_bps.push_back(target.estimate.target_rate.bps());
  }
  return found;
}

TEST(SeatChangesTest, AreNoStepsAndTheSameBitsEveryTime) {
  const Recorded first = Call();
  // No more than the members do by themselves, whoever sits where.
  EXPECT_LE(first.largest_step, first.largest_step_without);
  EXPECT_LE(first.largest_step, 0.12);
  RecordProperty("largest_step", std::to_string(first.largest_step));
  RecordProperty("largest_step_without", std::to_string(first.largest_step_without));
  EXPECT_EQ(first.rates_bps, Call().rates_bps);
}

}  // namespace
}  // namespace weir
