// Senders that have statistics instead of packets, with the shipped model.
#include "weir/mocc_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "arrival/interval_accumulator.h"
#include "c_handles.h"
#include "policy/mocc_statistics.h"
#include "read_file.h"
#include "test_models.h"
#include "test_stream.h"

namespace weir {
namespace {

// A link with a queue of 300 ms and 25 ms of delay, as a fluid, and a sender that reports round-trip times.
class FluidLink {
 public:
  explicit FluidLink(double capacity_bps, double loss_ratio = 0)
      : capacity_bps_(capacity_bps), loss_ratio_(loss_ratio) {}

  // The status after 100 ms at `rate_bps`: that of the paper, without the smallest and the largest latency.
  weir_mocc_status Send(double rate_bps) {
    constexpr double kIntervalS = 0.1, kPacketBits = 9600, kBaseS = 0.025, kMaxQueueS = 0.3;
    const double queue_before_s = queue_s_;
    const double offered_bits = rate_bps * (1 - loss_ratio_) * kIntervalS;
    const double unlimited_s = queue_s_ + offered_bits / capacity_bps_ - kIntervalS;
    queue_s_ = std::clamp(unlimited_s, 0.0, kMaxQueueS);
    const double dropped_bits = std::max(unlimited_s - kMaxQueueS, 0.0) * capacity_bps_;
    const double acknowledged_bits = offered_bits - dropped_bits - (queue_s_ - queue_before_s) * capacity_bps_;
    weir_mocc_status status{};
    status.interval_us = 100'000;
    status.throughput_bps = std::llround(acknowledged_bits / kIntervalS);
    sent_ += rate_bps * kIntervalS / kPacketBits;
    acknowledged_ += acknowledged_bits / kPacketBits;
    lost_ += (dropped_bits + rate_bps * loss_ratio_ * kIntervalS) / kPacketBits;
    status.packets_acknowledged = std::max(Whole(acknowledged_), int64_t{1});
    status.packets_lost = Whole(lost_);
    status.sending_ratio = static_cast<double>(Whole(sent_)) / static_cast<double>(status.packets_acknowledged);
    status.latency_ratio = (kBaseS + (queue_before_s + queue_s_) / 2) / kBaseS;
    status.latency_gradient = (queue_s_ - queue_before_s) / kIntervalS;
    status.base_latency_us = 25'000;
    return status;
  }

 private:
  static int64_t Whole(double& count) {
    const double whole = std::floor(count);
    count -= whole;
    return static_cast<int64_t>(whole);
  }

  const double capacity_bps_;
  const double loss_ratio_;
  double queue_s_ = 0;
  double sent_ = 0, acknowledged_ = 0, lost_ = 0;
};

// The share of the capacity that the shipped model uses in the second half of a minute.
double ShareOf(double capacity_bps, double loss_ratio = 0) {
  const auto model = Created<weir_model>(weir_model_load_shipped);
  const auto mocc = Created<weir_mocc>(weir_mocc_create, model.get(), nullptr);
  FluidLink link(capacity_bps, loss_ratio);
  constexpr int kIntervals = 600;
  double sum_bps = 0;
  for (int i = 0; i < kIntervals; ++i) {
    const weir_mocc_status status = link.Send(static_cast<double>(weir_mocc_get_sending_rate_bps(mocc.get())));
    EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK) << weir_last_error();
    if (i >= kIntervals / 2) sum_bps += static_cast<double>(status.throughput_bps);
  }
  return sum_bps / (kIntervals / 2) / capacity_bps;
}

class MoccShippedModelTest : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Links, MoccShippedModelTest, testing::Values(0.3, 2.0, 20.0), [](const auto& tested) {
  return std::to_string(static_cast<int>(tested.param * 1000)) + "kbps";
});

TEST_P(MoccShippedModelTest, FillsAnEmptyLink) { EXPECT_GE(ShareOf(GetParam() * 1e6), 0.9); }

// The guard proves that the loss does not depend on the rate.
TEST_P(MoccShippedModelTest, FillsALinkWithRandomLoss) { EXPECT_GE(ShareOf(GetParam() * 1e6, 0.1), 0.85); }

TEST(MoccSenderTest, ObservesWhatPacketsWouldShow) {
  constexpr TimeDelta kInterval = TimeDelta::Millis(100);
  constexpr int64_t kPackets = 20;
  constexpr TimeDelta kSpacing = TimeDelta::Millis(5);
  constexpr Timestamp kStart = Timestamp::Seconds(5);
  constexpr TimeDelta kBase = TimeDelta::Millis(40);
  IntervalAccumulator packets;
  packets.Start(kStart);
  FeatureSpecification all;
  all.fields.assign(kIntervalStatisticsFields.begin(), kIntervalStatisticsFields.end());
  MoccStatistics statuses(all);
  Timestamp now = kStart;
  for (int n = 0; n < 130; ++n) {
    // Seconds of a queue, of losses and without packets follow each other.
    const int phase = n / 10 % 4;
    const bool is_silent = phase == 3;
    const int64_t lost = phase == 2 ? 3 : 0;
    const TimeDelta low = TimeDelta::Micros(phase == 1 ? 900 * n : 40 * (n % 3)), step = TimeDelta::Micros(phase * 100);
    MoccStatus status{.interval = kInterval, .packets_lost = static_cast<double>(is_silent ? 0 : lost)};
    packets.OnRoundTripTime(kBase * 2);
    if (!is_silent) {
      for (int64_t i = 0; i < kPackets; ++i) {
        packets.OnArrival(
            ArrivalOf(now + kSpacing * (i + 1), 1200, low + step * i, i == 0 ? static_cast<int32_t>(lost) : 0));
      }
      const TimeDelta mean = low + step * (static_cast<double>(kPackets - 1) / 2);
      status.packets_acknowledged = kPackets;
      status.throughput = DataSize::Bytes(1200 * kPackets) / kInterval;
      status.sending_ratio = static_cast<double>(kPackets + lost) / kPackets;
      status.latency_ratio = (kBase + mean).seconds() / kBase.seconds();
      status.latency_gradient = step.seconds() / kSpacing.seconds();
      status.min_latency = kBase + low;
      status.max_latency = kBase + low + step * (kPackets - 1);
    }
    status.base_latency = kBase;
    now += kInterval;
    const DataRate rate = DataRate::KilobitsPerSecond(2000 + n);
    const IntervalStatistics expected = packets.Take(now, rate);
    const auto taken = statuses.Take(status, rate);
    ASSERT_TRUE(taken) << taken.error();
    // Statuses have no delay of the last packet, and means of whole intervals.
    if (is_silent || n % 10 == 0) continue;
    for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
      if (!MoccSender::Features().Has(field.name)) continue;
      const double value = expected.*field.member;
      EXPECT_NEAR(taken.value().*field.member, value, 1e-6 + 0.001 * std::abs(value)) << field.name << " " << n;
    }
  }
}

TEST(MoccSenderTest, AnIntervalWithoutPacketsKeepsTheDelay) {
  FeatureSpecification all;
  all.fields.assign(kIntervalStatisticsFields.begin(), kIntervalStatisticsFields.end());
  MoccStatistics statuses(all);
  const DataRate rate = DataRate::KilobitsPerSecond(600);
  MoccStatus status{.interval = TimeDelta::Millis(200),
                    .sending_ratio = 1000,
                    .latency_ratio = 1.5,
                    .latency_gradient = 0.25,
                    .throughput = DataRate::KilobitsPerSecond(480),
                    .packets_acknowledged = 8,
                    .packets_lost = 2,
                    .base_latency = TimeDelta::Millis(40)};
  const IntervalStatistics with_packets = statuses.Take(status, rate).value();
  EXPECT_DOUBLE_EQ(with_packets.bytes_received, 12'000);
  EXPECT_DOUBLE_EQ(with_packets.queueing_delay_mean_s, 0.02);
  EXPECT_DOUBLE_EQ(with_packets.queueing_delay_min_s, 0.02) << "the mean stands for it";
  EXPECT_EQ(with_packets.delay_gradient, 0.25);
  EXPECT_EQ(with_packets.sending_ratio, 100);
  EXPECT_DOUBLE_EQ(with_packets.base_round_trip_time_s, 0.08);
  EXPECT_EQ(with_packets.last_estimate_bps, 600'000);
  for (int i = 1; i <= 3; ++i) {
    const IntervalStatistics silent = statuses.Take({.interval = TimeDelta::Millis(200)}, rate).value();
    EXPECT_DOUBLE_EQ(silent.queueing_delay_mean_s, 0.02);
    EXPECT_DOUBLE_EQ(silent.base_round_trip_time_s, 0.08);
    EXPECT_NEAR(silent.time_since_last_packet_s, 0.2 * i, 1e-9);
    EXPECT_EQ(silent.receive_rate_bps, 0);
  }
}

Result<MoccSender> Create(const std::string& test_model) {
  auto model = PolicyModel::Load(ReadTestModel(test_model));
  EXPECT_TRUE(model) << model.error();
  return MoccSender::Create(model.value(), kBalanced, {});
}

TEST(MoccSenderTest, RefusesAModelWithAFeatureThatNeedsPackets) {
  const auto sender = Create("mocc_sized");
  ASSERT_FALSE(sender);
  EXPECT_EQ(sender.error(),
            "the model cannot be used with statuses of MOCC's interface, which lacks the model's feature "
            "queueing_delay_p95_s");
}

TEST(MoccSenderTest, AStatusWithoutABaseLatencyIsRefusedWhereTheModelNeedsIt) {
  auto shipped = MoccSender::Create(PolicyModel::Load(ReadFile(WEIR_SHIPPED_MODEL)).value(), kBalanced, {});
  ASSERT_TRUE(shipped) << shipped.error();
  MoccStatus status{
      .interval = TimeDelta::Millis(100), .throughput = DataRate::KilobitsPerSecond(240), .packets_acknowledged = 20};
  const auto [outcome, error] = shipped.value().ReportStatus(status);
  EXPECT_EQ(outcome, MoccSender::Outcome::kInvalidStatus);
  for (const char* const part : {"base_latency", "queueing_delay_mean_s", "base_round_trip_time_s"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(shipped.value().sending_rate(), TargetRateConstraints().start_rate);
  // It is known from then on.
  status.base_latency = TimeDelta::Millis(30);
  EXPECT_EQ(shipped.value().ReportStatus(status).outcome, MoccSender::Outcome::kDecided);
  status.base_latency = TimeDelta::Zero();
  EXPECT_EQ(shipped.value().ReportStatus(status).outcome, MoccSender::Outcome::kDecided);

  auto of_the_paper = Create("mocc_state");
  ASSERT_TRUE(of_the_paper) << of_the_paper.error();
  EXPECT_EQ(of_the_paper.value().ReportStatus(status).outcome, MoccSender::Outcome::kDecided);
}

TEST(MoccSenderTest, UntilSomethingIsAcknowledgedTheStartRateStays) {
  auto shipped = MoccSender::Create(PolicyModel::Load(ReadFile(WEIR_SHIPPED_MODEL)).value(), kBalanced, {});
  ASSERT_TRUE(shipped) << shipped.error();
  const MoccStatus silent{.interval = TimeDelta::Millis(100)};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(shipped.value().ReportStatus(silent).outcome, MoccSender::Outcome::kDecided);
    EXPECT_EQ(shipped.value().sending_rate(), TargetRateConstraints().start_rate);
  }
  // A path that answers nothing gets less and less.
  for (int i = 0; i < 100; ++i) static_cast<void>(shipped.value().ReportStatus(silent));
  EXPECT_LT(shipped.value().sending_rate(), TargetRateConstraints().start_rate * 0.2);
}

TEST(FeatureSetTest, TheErrorListsTheMissingFeatures) {
  constexpr FeatureSet kSome = FeatureSet().Without({"jitter_s", "loss_ratio"});
  EXPECT_TRUE(kSome.Has("receive_rate_bps"));
  EXPECT_FALSE(kSome.Has("jitter_s"));
  FeatureSpecification features;
  for (const char* const name : {"receive_rate_bps", "loss_ratio", "jitter_s"})
    features.fields.push_back(*FindIntervalStatisticsField(name));
  const auto error = CheckFeatures(features, kSome, "at this host");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "the model cannot be used at this host, which lacks the model's features loss_ratio and jitter_s");
  EXPECT_FALSE(CheckFeatures(features, FeatureSet(), "at this host"));
}

}  // namespace
}  // namespace weir
