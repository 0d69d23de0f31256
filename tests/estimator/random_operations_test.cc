// Sequences of random operations against the whole estimator: the invariants must hold after each, and the same
// sequence must give the same answers.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/nada_controller.h"
#include "weir/rule_controller.h"

namespace weir {
namespace {

// Gives any rate there is, or none.
class ErraticController final : public RateController {
 public:
  explicit ErraticController(uint64_t seed) : random_(seed) {}
  std::string_view name() const override { return "erratic"; }
  Side side() const override { return Side::kReceiver; }
  void OnTargetRateConstraints(const TargetRateConstraints&, Timestamp now) override { next_ = now; }
  NetworkControlUpdate OnTimeout(Timestamp now) override {
    next_ = now + TimeDelta::Millis(static_cast<int64_t>(random_() % 300));
    NetworkControlUpdate update;
    const uint64_t kind = random_() % 40;
    if (kind == 0) faulty_ = !faulty_;
    if (!faulty_) {
      update.target_rate =
          TargetTransferRate{now, DataRate::BitsPerSecond(static_cast<int64_t>(random_() >> (random_() % 60 + 1)))};
    }
    return update;
  }
  Timestamp next_timeout() const override { return next_; }

 private:
  std::mt19937_64 random_;
  bool faulty_ = false;
  Timestamp next_ = Timestamp::PlusInfinity();
};

// Runs one sequence; returns everything the estimator said.
std::vector<int64_t> RunSequence(uint64_t seed, int operations) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
  std::vector<std::unique_ptr<RateController>> copilots;
  copilots.push_back(std::make_unique<NadaController>());
  std::unique_ptr<RateController> pilot = std::make_unique<ErraticController>(seed);
  if (seed % 3 == 0) pilot = std::make_unique<RuleController>();
  const Fusion fusion{.kind = static_cast<Fusion::Kind>(seed % 4), .target = DataRate::KilobitsPerSecond(1000)};
  BandwidthEstimatorConfig config;
  config.guard = seed % 5 != 0;
  BandwidthEstimator estimator(config, std::move(pilot), std::move(copilots), fusion);
  TargetRateConstraints constraints = config.constraints;

  std::vector<int64_t> said;
  Timestamp now = Timestamp::Micros(below(1'000'000) - 500'000);
  Timestamp last_timeout = Timestamp::MinusInfinity();
  uint16_t sequence_number = static_cast<uint16_t>(random());
  for (int i = 0; i < operations; ++i) {
    switch (below(16)) {
      case 0:
        now += TimeDelta::Micros(static_cast<int64_t>(random() >> (random() % 30 + 30)));
        break;
      case 1:
        estimator.OnRoundTripTime(TimeDelta::Micros(static_cast<int64_t>(random()) >> below(64)), now);
        break;
      case 2: {
        const TargetRateConstraints wanted{DataRate::BitsPerSecond(below(1'000'000)),
                                           DataRate::BitsPerSecond(below(20'000'000)),
                                           DataRate::BitsPerSecond(below(20'000'000))};
        const bool accepted = estimator.SetConstraints(wanted, now);
        EXPECT_EQ(accepted, Validated(wanted).has_value());
        if (accepted) constraints = wanted;
        break;
      }
      case 3:
        estimator.SetObjective(below(2) == 0 ? kThroughput : kLatency);
        break;
      case 4:
        sequence_number = static_cast<uint16_t>(random());
        break;
      case 5:
      case 6: {
        Timestamp at = std::max(now, estimator.next_timeout());
        if (below(20) == 0) at = now - TimeDelta::Seconds(below(10));
        const std::optional<Estimate> estimate = estimator.OnTimeout(at);
        if (at > last_timeout) {
          last_timeout = at;
          now = std::max(now, at);
        }
        EXPECT_GT(estimator.next_timeout(), last_timeout);
        if (estimate) {
          EXPECT_EQ(estimate->target_rate, estimator.latest().target_rate);
          said.push_back(estimate->at_time.us());
          said.push_back(estimate->target_rate.bps());
          said.push_back(static_cast<int64_t>(estimate->reason));
        }
        break;
      }
      default: {
        PacketArrival packet;
        now += TimeDelta::Micros(below(20'000));
        packet.arrival_time = now;
        packet.ssrc = static_cast<uint32_t>(below(i % 100 == 0 ? 100'000 : 3));
        packet.sequence_number = sequence_number += static_cast<uint16_t>(below(20) == 0 ? below(6) - 2 : 1);
        packet.kind = static_cast<PacketKind>(below(4));
        packet.has_abs_send_time = below(10) != 0;
        packet.abs_send_time =
            below(50) == 0 ? static_cast<uint32_t>(random()) : AbsSendTime(now - TimeDelta::Micros(below(300'000)));
        packet.rtp_timestamp = static_cast<uint32_t>(random());
        packet.rtp_clock_rate = below(3) == 0 ? static_cast<uint32_t>(random()) : 90'000;
        packet.header_size = static_cast<uint32_t>(below(80));
        packet.payload_size = below(100) == 0 ? static_cast<uint32_t>(random()) : static_cast<uint32_t>(below(1400));
        if (below(200) == 0) packet.arrival_time = Timestamp::Micros(static_cast<int64_t>(random()));
        estimator.OnPacket(packet);
      }
    }
    const DataRate target = estimator.latest().target_rate;
    EXPECT_GE(target, constraints.min_rate);
    EXPECT_LE(target, constraints.max_rate);
  }
  const EstimatorCounters counters = estimator.counters();
  said.insert(said.end(), {static_cast<int64_t>(counters.policy_faults), static_cast<int64_t>(counters.guard.slew),
                           static_cast<int64_t>(counters.arrivals.duplicates)});
  return said;
}

class RandomOperationsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomOperationsTest, InvariantsHoldAndAnswersRepeat) {
  const std::vector<int64_t> first = RunSequence(GetParam(), 20'000);
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(first.size(), 300u);
  EXPECT_EQ(first, RunSequence(GetParam(), 20'000));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperationsTest, testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace weir
