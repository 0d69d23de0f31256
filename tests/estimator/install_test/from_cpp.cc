#include <weir/bandwidth_estimator.h>
#include <weir/rule_controller.h>

#include <cstdio>
#include <memory>

int main() {
  weir::BandwidthEstimator estimator({}, std::make_unique<weir::RuleController>());
  const auto estimate = estimator.OnTimeout(weir::Timestamp::Millis(0));
  if (!estimate) return 1;
  std::printf("%lld\n", static_cast<long long>(estimate->target_rate.bps()));
}
