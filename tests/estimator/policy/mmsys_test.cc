#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "made_estimator.h"
#include "policy/mmsys_features.h"
#include "policy/policy.h"
#include "test_models.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

using Observation = std::array<float, MmsysFeatures::kObservationSize>;

Observation Write(const MmsysFeatures& features) {
  Observation observation;
  observation.fill(NAN);
  features.Write(observation);
  return observation;
}

Arrival MakeArrival(int64_t time_ms, int64_t queueing_delay_ms, PacketKind kind, int32_t lost_change = 0) {
  Arrival arrival = ArrivalOf(Timestamp::Millis(time_ms), 1200, TimeDelta::Millis(queueing_delay_ms), lost_change);
  arrival.packet.kind = kind;
  return arrival;
}

TEST(MmsysFeaturesTest, ComputesAllFifteenFeatures) {
  MmsysFeatures features;
  features.OnRoundTripTime(TimeDelta::Millis(80));
  features.EndInterval(Timestamp::Millis(1000));
  features.OnArrival(MakeArrival(1010, 10, PacketKind::kVideo));
  features.OnArrival(MakeArrival(1020, 20, PacketKind::kVideo, 3));
  features.OnArrival(MakeArrival(1040, 30, PacketKind::kAudio, 1));
  features.OnArrival(MakeArrival(1050, 40, PacketKind::kProbe));
  features.EndInterval(Timestamp::Millis(1060));
  const Observation o = Write(features);
  const auto newest = [&](size_t feature) { return static_cast<double>(o[10 * feature]); };
  EXPECT_NEAR(newest(0), 4 * 1200 * 8 / 0.06, 1);
  EXPECT_EQ(newest(1), 4);
  EXPECT_EQ(newest(2), 4800);
  EXPECT_NEAR(newest(3), 25, 1e-4);
  EXPECT_NEAR(newest(4), 40 + 25 - 200, 1e-4);
  EXPECT_NEAR(newest(5), 40, 1e-4);
  EXPECT_NEAR(newest(6), 65.0 / 50.0, 1e-6);
  EXPECT_NEAR(newest(7), 15, 1e-4);
  // Gaps of 10, 20 and 10 ms.
  EXPECT_NEAR(newest(8), 40.0 / 3, 1e-4);
  EXPECT_NEAR(newest(9), std::sqrt(600.0 / 3 - 1600.0 / 9), 1e-4);
  EXPECT_NEAR(newest(10), 4.0 / 8, 1e-6);
  EXPECT_NEAR(newest(11), 2, 1e-6);
  EXPECT_NEAR(newest(12), 0.5, 1e-6);
  EXPECT_NEAR(newest(13), 0.25, 1e-6);
  EXPECT_NEAR(newest(14), 0.25, 1e-6);
}

TEST(MmsysFeaturesTest, HasFiveShortAndFiveLongIntervalsNewestFirst) {
  MmsysFeatures features;
  // i packets in the i-th interval.
  for (int i = 0; i < 60; ++i) {
    for (int n = 0; n < i; ++n) features.OnArrival(MakeArrival(60 * i, 0, PacketKind::kVideo));
    features.EndInterval(Timestamp::Millis(60 * (i + 1)));
  }
  const Observation o = Write(features);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(o[static_cast<size_t>(10 + k)], 59 - k);
    // The sum of ten consecutive intervals.
    const int newest = 59 - 10 * k;
    EXPECT_EQ(o[static_cast<size_t>(15 + k)], 10 * newest - 45);
    EXPECT_NEAR(o[static_cast<size_t>(5 + k)], (10 * newest - 45) * 1200 * 8 / 0.6, 32);
  }
}

TEST(MmsysFeaturesTest, SilenceIsZerosButForTheBaseDelay) {
  MmsysFeatures features;
  for (const bool cleared : {false, true}) {
    if (cleared) {
      features.OnArrival(MakeArrival(10, 5, PacketKind::kVideo));
      features.EndInterval(Timestamp::Millis(60));
      features.Clear();
    }
    const Observation o = Write(features);
    for (size_t i = 0; i < o.size(); ++i) EXPECT_EQ(o[i], i / 10 == 5 ? 50 : 0) << i;
  }
}

TEST(MmsysFeaturesTest, StaysFiniteWhateverArrives) {
  MmsysFeatures features;
  features.OnRoundTripTime(TimeDelta::Micros(1));
  features.OnRoundTripTime(TimeDelta::PlusInfinity());
  features.OnRoundTripTime(TimeDelta::Micros(-5));
  for (int i = 0; i < 100; ++i) {
    Arrival arrival = MakeArrival(i * 1'000'000'000ll * (i % 3 - 1), i % 2 == 0 ? 0 : 1'000'000'000'000,
                                  PacketKind::kVideo, i % 5 - 2);
    arrival.packet.payload_size = UINT32_MAX;
    features.OnArrival(arrival);
    features.EndInterval(Timestamp::Micros(i * i * (i % 7 - 3)));
    for (const float value : Write(features)) ASSERT_TRUE(std::isfinite(value));
  }
}

// The published baseline of the challenge; it is not part of this repository.
class MmsysBaselineTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("WEIR_SHARED");
    if (folder == nullptr) GTEST_SKIP() << "WEIR_SHARED is not set: no models/mmsys24_baseline.onnx";
    if (*OnnxRuntimeVersion() == '\0') GTEST_SKIP() << "there is no ONNX Runtime";
    const auto model = ReadFile(std::string(folder) + "/models/mmsys24_baseline.onnx");
    auto policy = Policy::Load(model);
    ASSERT_TRUE(policy) << policy.error();
    policy_ = std::move(policy.value());
  }

  std::unique_ptr<Policy> policy_;
};

TEST_F(MmsysBaselineTest, LoadsAsItIs) {
  EXPECT_EQ(policy_->description().format, ModelFormat::kMmsys2024);
  EXPECT_EQ(policy_->description().observation_size, 150u);
  EXPECT_EQ(policy_->description().action_size, 2u);
  EXPECT_EQ(policy_->description().state_size, 2u);
  EXPECT_EQ(policy_->description().interval.ms(), 60);
  std::array<float, 2> action{};
  EXPECT_EQ(policy_->Run(std::vector<float>(150, 0.0f), kBalanced, action), PolicyFault::kNone);
  // As measured with ONNX Runtime's Python interface.
  EXPECT_NEAR(action[0], 135'000, 1'000);
}

TEST_F(MmsysBaselineTest, FollowsAFallingReceiveRate) {
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<PolicyController>(std::move(policy_)));
  Timestamp now = Timestamp::Millis(0);
  TestStream stream;
  // A link of `capacity` that is kept full, with a standing queue.
  const auto run = [&](TimeDelta duration, DataRate capacity, TimeDelta queue) {
    const Timestamp end = now + duration;
    for (; now < end; now += DataSize::Bytes(1200) / capacity) {
      while (estimator.next_timeout() <= now) (void)estimator.OnTimeout(now);
      estimator.OnPacket(stream.Next(now - queue, queue, 1200));
    }
    return estimator.latest().target_rate.bps();
  };
  const int64_t fast = run(TimeDelta::Seconds(10), DataRate::KilobitsPerSecond(2000), TimeDelta::Zero());
  const int64_t slow = run(TimeDelta::Seconds(5), DataRate::KilobitsPerSecond(500), TimeDelta::Millis(200));
  EXPECT_EQ(estimator.counters().controller.faults, 0u);
  EXPECT_NEAR(static_cast<double>(estimator.counters().controller.decisions), 250, 3);
  EXPECT_GT(fast, 2'000'000);
  EXPECT_LT(fast, 10'000'000);
  EXPECT_GT(slow, 100'000);
  EXPECT_LT(slow, 1'000'000);
}

}  // namespace
}  // namespace weir
