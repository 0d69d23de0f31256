#include "receive_side_switch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "receive_side_call.h"
#include "test_models.h"
#include "weir/controllers.h"
#include "weir/policy_controller.h"
#include "weir/pool_controller.h"

namespace weir {
namespace {

using testing::ReceiveSideCall;
using testing::Remb;

class Switch : public ::testing::Test {
 protected:
  ~Switch() override { ReceiveSideSwitch::Uninstall(); }

  ReceiveSideSwitch& Begin(ReceiveSideSwitchConfig config) {
    config.on_decision = [this](const ReceiveSideDecision& decision) {
      decisions_.push_back(decision);
      roles_.clear();
      for (size_t i = 0; decision.pool && i < decision.pool->members().size(); ++i)
        roles_ += std::string(ToString(decision.pool->role(i))) + " ";
    };
    switch_ = ReceiveSideSwitch::Create(std::move(config)).value();
    switch_->Install();
    call_.emplace();
    return *switch_;
  }

  int64_t LastBps() { return call_->rembs().empty() ? 0 : call_->rembs().back().bitrate_bps; }

  std::vector<ReceiveSideDecision> decisions_;
  // Roles in the pool of the latest decision.
  std::string roles_;
  std::shared_ptr<ReceiveSideSwitch> switch_;
  std::optional<ReceiveSideCall> call_;
};

ReceiveSideSwitchConfig Config(ReceiveSideMode mode, ControllerFactory controller = nullptr) {
  ReceiveSideSwitchConfig config;
  config.mode = mode;
  config.controller = std::move(controller);
  return config;
}

ControllerFactory Fixed(int64_t kbps) {
  return [kbps] { return MakeBuiltInController("fixed", DataRate::KilobitsPerSecond(kbps)); };
}

double ReceiveRateBps(const ReceiveSideDecision& decision) {
  return static_cast<double>((decision.arrivals.size / decision.interval).bps());
}

// Decides as the rule, and keeps the packets that it receives.
class RecordingController final : public ReceiverController {
 public:
  explicit RecordingController(std::vector<Arrival>* arrivals) : arrivals_(arrivals) {}

  std::string_view name() const override { return "recording"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    rule_->OnTargetRateConstraints(constraints);
  }
  void OnObjective(const Objective& objective) override { rule_->OnObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override { rule_->OnRoundTripTimeUpdate(update); }
  void OnArrival(const Arrival& arrival) override {
    arrivals_->push_back(arrival);
    rule_->OnArrival(arrival);
  }
  void OnTargetApplied(const TargetTransferRate& target) override { rule_->OnTargetApplied(target); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override { return rule_->OnTimeout(now); }
  Timestamp next_timeout() const override { return rule_->next_timeout(); }

 private:
  std::vector<Arrival>* const arrivals_;
  const std::unique_ptr<ReceiverController> rule_ = MakeBuiltInController("rule", DataRate::KilobitsPerSecond(300));
};

ControllerFactory Recording(std::vector<Arrival>* arrivals) {
  return [arrivals] { return std::make_unique<RecordingController>(arrivals); };
}

// An unpatched call's REMB of the same packets.
std::vector<Remb> LibwebrtcsRembs(bool has_transport_sequence_number) {
  ReceiveSideSwitch::Uninstall();
  ReceiveSideCall call;
  call.fields().has_transport_sequence_number = has_transport_sequence_number;
  call.Run(10'000, 400'000);
  call.Run(3'000, 400'000, 100);
  call.Run(3'000, 0);
  return call.rembs();
}

void ExpectSame(const std::vector<Remb>& a, const std::vector<Remb>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].bitrate_bps, b[i].bitrate_bps) << i;
    EXPECT_EQ(a[i].time_us, b[i].time_us) << i;
    EXPECT_EQ(a[i].ssrcs, b[i].ssrcs) << i;
  }
}

TEST_F(Switch, GccAndShadowLeaveLibwebrtcsAnswersAsTheyAre) {
  for (const bool has_transport_sequence_number : {false, true}) {
    const std::vector<Remb> expected = LibwebrtcsRembs(has_transport_sequence_number);
    EXPECT_EQ(expected.empty(), has_transport_sequence_number);
    for (const ReceiveSideMode mode : {ReceiveSideMode::kGcc, ReceiveSideMode::kShadow}) {
      SCOPED_TRACE(ToString(mode));
      decisions_.clear();
      Begin(Config(mode));
      call_->fields().has_transport_sequence_number = has_transport_sequence_number;
      call_->Run(10'000, 400'000);
      call_->Run(3'000, 400'000, 100);
      call_->Run(3'000, 0);
      ExpectSame(call_->rembs(), expected);
      // And Weir saw the same packets in shadow, whether reported to the sender or not.
      ASSERT_EQ(decisions_.empty(), mode == ReceiveSideMode::kGcc);
      if (mode == ReceiveSideMode::kShadow) {
        EXPECT_FALSE(decisions_.back().in_charge);
        int64_t packets = 0;
        for (const ReceiveSideDecision& decision : decisions_) packets += decision.arrivals.packets;
        EXPECT_NEAR(static_cast<double>(packets), 13 * 48.8, 20);
      }
    }
  }
}

TEST_F(Switch, WeirDrivesRemb) {
  Begin(Config(ReceiveSideMode::kWeir));
  // Follows what arrives upwards ...
  int64_t rate_bps = 300'000;
  for (int i = 0; i < 50; ++i) {
    call_->Run(200, rate_bps);
    rate_bps = std::min<int64_t>(LastBps(), 3'000'000);
  }
  EXPECT_GT(LastBps(), 2'800'000);
  EXPECT_EQ(call_->rembs().back().ssrcs, std::vector<uint32_t>{testing::kSsrc});
  EXPECT_EQ(call_->controller().LatestReceiveSideEstimate().bps(), decisions_.back().estimate.target_rate.bps());
  // ... and back at once when a queue builds up.
  const int64_t before_us = call_->clock().TimeInMicroseconds();
  call_->Run(400, 1'000'000, 150);
  EXPECT_LT(LastBps(), 1'000'000);
  const auto first_low = std::find_if(call_->rembs().begin(), call_->rembs().end(), [&](const Remb& remb) {
    return remb.time_us > before_us && remb.bitrate_bps < 2'000'000;
  });
  EXPECT_LE(first_low->time_us - before_us, 250'000);
}

TEST(SwitchConfig, AnInvalidOneIsAnError) {
  ReceiveSideSwitchConfig reversed = Config(ReceiveSideMode::kWeir);
  reversed.constraints.min_rate = reversed.constraints.max_rate * 2.0;
  EXPECT_FALSE(ReceiveSideSwitch::Create(reversed));
  ReceiveSideSwitchConfig unweighted = Config(ReceiveSideMode::kWeir);
  unweighted.objective.latency = 0;
  EXPECT_FALSE(ReceiveSideSwitch::Create(unweighted));
}

TEST_F(Switch, DecisionsSayWhatWasSeen) {
  EXPECT_TRUE(Begin(Config(ReceiveSideMode::kWeir)).SetObjective({.throughput = 1, .latency = 1, .loss = 1}));
  EXPECT_FALSE(switch_->SetObjective(kLatency));
  call_->Run(2000, 800'000);
  ASSERT_GT(decisions_.size(), 15u);
  const ReceiveSideDecision& decision = decisions_.back();
  EXPECT_EQ(decision.controller, "rule");
  EXPECT_TRUE(decision.in_charge);
  EXPECT_EQ(decision.objective, kLatency);
  EXPECT_NEAR(ReceiveRateBps(decision), 800'000, 90'000);
  EXPECT_NEAR(decision.interval.seconds(), 0.1, 0.06);
  EXPECT_EQ(decision.previous_target_rate, decisions_[decisions_.size() - 2].estimate.target_rate);
  EXPECT_EQ(decision.counters.controller.decisions, decisions_.back().counters.controller.decisions);
  EXPECT_GT(decision.counters.controller.decisions, 15u);
  for (size_t i = 1; i < decisions_.size(); ++i) {
    EXPECT_GT(decisions_[i].estimate.at_time, decisions_[i - 1].estimate.at_time);
  }
}

TEST_F(Switch, SpeaksBeforeMediaAndInABlackout) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(1000, 0);
  // At once, and every 200 ms, because each of them may get lost.
  ASSERT_GE(call_->rembs().size(), 5u);
  EXPECT_EQ(call_->rembs().front().time_us, 1'000'000'000);
  for (const Remb& remb : call_->rembs()) EXPECT_EQ(remb.bitrate_bps, 300'000);

  call_->Run(3000, 600'000);
  const int64_t before = LastBps();
  const size_t rembs_before = call_->rembs().size();
  call_->Run(5000, 0);
  EXPECT_GE(call_->rembs().size(), rembs_before + 4);
  EXPECT_LT(LastBps(), before / 3);
  // The stream is still the one that the REMB is about.
  EXPECT_EQ(call_->rembs().back().ssrcs, std::vector<uint32_t>{testing::kSsrc});
}

TEST_F(Switch, RepeatsOnDemand) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(250, 0);
  const size_t before = call_->rembs().size();
  switch_->RepeatRemb();
  call_->Run(100, 0);
  ASSERT_GT(call_->rembs().size(), before);
  EXPECT_EQ(call_->rembs()[before].bitrate_bps, 288'000);
  // The rate itself follows as soon as the throttler lets it pass.
  const int64_t repeated_us = call_->rembs()[before].time_us;
  call_->Run(200, 0);
  ASSERT_GT(call_->rembs().size(), before + 1);
  EXPECT_EQ(call_->rembs()[before + 1].bitrate_bps, 300'000);
  EXPECT_EQ(call_->rembs()[before + 1].time_us, repeated_us + 200'000);
}

// libwebrtc's throttler would drop the REMB, since one of GCC was sent before.
TEST_F(Switch, TheFirstRembAfterASwitchToWeirIsNotLost) {
  for (const int64_t fixed_kbps : {100, 900}) {
    SCOPED_TRACE(fixed_kbps);
    Begin(Config(ReceiveSideMode::kShadow, Fixed(fixed_kbps)));
    call_->Run(3000, 400'000);
    // GCC sends REMB every 200 ms while its rate grows.
    const size_t before = call_->rembs().size();
    const int64_t last_us = call_->rembs().back().time_us;
    const int64_t gcc_bps = LastBps();
    ASSERT_LT(call_->clock().TimeInMicroseconds() - last_us, 100'000);
    switch_->SetMode(ReceiveSideMode::kWeir);
    call_->Run(300, 400'000);
    ASSERT_GT(call_->rembs().size(), before);
    const Remb& first = call_->rembs()[before];
    // A decrease passes at once.
    if (first.bitrate_bps < gcc_bps) {
      EXPECT_EQ(fixed_kbps, 100);
      EXPECT_LT(first.time_us - last_us, 150'000);
    } else {
      EXPECT_EQ(fixed_kbps, 900);
      EXPECT_GE(first.time_us - last_us, 200'000);
      EXPECT_LE(first.time_us - last_us, 260'000);
    }
  }
}

TEST_F(Switch, SwitchesWhileTheCallRuns) {
  Begin(Config(ReceiveSideMode::kGcc));
  call_->Run(15'000, 400'000);
  const int64_t gcc_bps = LastBps();
  EXPECT_TRUE(decisions_.empty());

  switch_->SetMode(ReceiveSideMode::kWeir);
  call_->Run(150, 400'000);
  ASSERT_FALSE(decisions_.empty());
  // Weir begins where GCC is.
  EXPECT_NEAR(static_cast<double>(decisions_[0].estimate.target_rate.bps()), static_cast<double>(gcc_bps),
              0.1 * gcc_bps);

  switch_->SetMode(ReceiveSideMode::kShadow);
  call_->Run(100, 400'000);
  call_->rembs().clear();
  decisions_.clear();
  call_->Run(400, 400'000);
  EXPECT_FALSE(decisions_.empty());
  EXPECT_FALSE(decisions_.back().in_charge);

  switch_->SetMode(ReceiveSideMode::kWeir);
  call_->Run(200, 400'000);
  EXPECT_TRUE(decisions_.back().in_charge);
  EXPECT_EQ(switch_->mode(), ReceiveSideMode::kWeir);

  switch_->SetMode(ReceiveSideMode::kGcc);
  call_->Run(200, 400'000);
  decisions_.clear();
  call_->Run(2000, 400'000);
  EXPECT_TRUE(decisions_.empty());
}

TEST_F(Switch, TheSendersGccTakesOverWithinACallWithTransportCc) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->fields().has_transport_sequence_number = true;
  call_->Run(3000, 400'000);
  EXPECT_EQ(call_->remote_estimates(), static_cast<int>(call_->rembs().size()));
  EXPECT_GT(LastBps(), 0);
  // RTP's header, and IP, UDP and SRTP, as the sender counts them.
  const ArrivalTotals& arrivals = decisions_.back().arrivals;
  EXPECT_GT(arrivals.packets, 0);
  EXPECT_EQ(arrivals.size.bytes(), (24 + 1000 + 38) * arrivals.packets);
  switch_->SetMode(ReceiveSideMode::kGcc);
  call_->Run(200, 400'000);
  EXPECT_EQ(LastBps(), 0) << "no limit";
  const size_t rembs = call_->rembs().size();
  call_->Run(3000, 400'000);
  EXPECT_EQ(call_->rembs().size(), rembs);
  EXPECT_EQ(call_->remote_estimates(), static_cast<int>(rembs));
}

TEST_F(Switch, NoRemoteEstimateWhereTheSenderDecidesToo) {
  ReceiveSideSwitchConfig config = Config(ReceiveSideMode::kWeir);
  config.sender_decides_too = true;
  Begin(std::move(config));
  call_->fields().has_transport_sequence_number = true;
  call_->Run(3000, 400'000);
  EXPECT_GT(LastBps(), 0);
  EXPECT_EQ(call_->remote_estimates(), 0);
}

TEST_F(Switch, BoundsAreKeptWhileTheCallRuns) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(3000, 1'000'000);
  EXPECT_TRUE(switch_->SetConstraints({.min_rate = DataRate::KilobitsPerSecond(500),
                                       .start_rate = DataRate::KilobitsPerSecond(500),
                                       .max_rate = DataRate::KilobitsPerSecond(100)}));
  EXPECT_FALSE(switch_->SetConstraints({.min_rate = DataRate::KilobitsPerSecond(50),
                                        .start_rate = DataRate::KilobitsPerSecond(100),
                                        .max_rate = DataRate::KilobitsPerSecond(200)}));
  call_->Run(300, 1'000'000);
  EXPECT_EQ(LastBps(), 200'000);
  EXPECT_EQ(decisions_.back().constraints.max_rate, DataRate::KilobitsPerSecond(200));
}

TEST_F(Switch, AMaximumOfTheMediaAloneIsKept) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(3000, 1'000'000);
  ASSERT_GT(LastBps(), 300'000);
  TargetRateConstraints constraints = decisions_.back().constraints;
  constraints.max_media_rate = DataRate::KilobitsPerSecond(300);
  EXPECT_FALSE(switch_->SetConstraints(constraints));
  call_->Run(300, 1'000'000);
  EXPECT_EQ(LastBps(), 300'000);
}

TEST_F(Switch, ForgetsStreamsThatEnd) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(1000, 400'000);
  call_->fields().ssrc = 7;
  call_->Run(1000, 400'000);
  EXPECT_EQ(call_->rembs().back().ssrcs, (std::vector<uint32_t>{7, testing::kSsrc}));
  call_->controller().RemoveStream(7);
  call_->Run(1500, 0);
  EXPECT_EQ(call_->rembs().back().ssrcs, (std::vector<uint32_t>{testing::kSsrc}));
  call_->Run(1000, 400'000);
  EXPECT_EQ(call_->rembs().back().ssrcs, (std::vector<uint32_t>{7, testing::kSsrc}));
}

TEST_F(Switch, KnowsWhatPacketsAreFor) {
  std::vector<Arrival> arrivals;
  Begin(Config(ReceiveSideMode::kWeir, Recording(&arrivals))).SetPacketKind(97, PacketKind::kRetransmission);
  switch_->SetPacketKind(-1, PacketKind::kAudio);
  switch_->SetPacketKind(128, PacketKind::kAudio);
  call_->Run(500, 800'000);
  EXPECT_EQ(arrivals.back().packet.kind, PacketKind::kVideo);
  call_->fields().payload_type = 97;
  call_->Run(500, 800'000);
  EXPECT_EQ(arrivals.back().packet.kind, PacketKind::kRetransmission);
  // Padding only.
  call_->fields().payload_type = 96;
  call_->fields().is_padding = true;
  call_->Run(500, 800'000);
  EXPECT_EQ(arrivals.back().packet.kind, PacketKind::kProbe);
}

TEST_F(Switch, SurvivesHostilePackets) {
  Begin(Config(ReceiveSideMode::kShadow));
  call_->Run(500, 400'000);
  for (const bool has_transport_sequence_number : {true, false}) {
    call_->fields().has_transport_sequence_number = has_transport_sequence_number;
    for (const int64_t arrival_ms : {int64_t{0}, std::numeric_limits<int64_t>::max() / 2000})
      call_->ReceiveAt(webrtc::Timestamp::Millis(arrival_ms), 1000);
  }
  // libwebrtc's own estimator aborts on these.
  switch_->SetMode(ReceiveSideMode::kWeir);
  call_->ReceiveAt(webrtc::Timestamp::Millis(-1'000'000'000'000), 1000);
  call_->ReceiveAt(webrtc::Timestamp::Millis(-1), 1000);
  call_->ReceiveAt(webrtc::Timestamp::MinusInfinity(), 1000);
  call_->ReceiveAt(webrtc::Timestamp::PlusInfinity(), 1000);
  for (uint32_t ssrc = 0; ssrc < 1000; ++ssrc) {
    call_->fields().ssrc = ssrc;
    call_->Receive(100, 0);
    call_->controller().RemoveStream(ssrc);
  }
  call_->fields().ssrc = testing::kSsrc;
  decisions_.clear();
  call_->Run(1000, 400'000);
  EXPECT_NEAR(ReceiveRateBps(decisions_.back()), 400'000, 90'000);
}

TEST_F(Switch, StepsOfTheWallClockAreNoQueue) {
  std::vector<Arrival> arrivals;
  Begin(Config(ReceiveSideMode::kWeir, Recording(&arrivals)));
  call_->Run(5000, 400'000);
  for (const int64_t step_ms : {-900, 900, -600, -600, -250, 1200, -999}) {
    SCOPED_TRACE(step_ms);
    decisions_.clear();
    arrivals.clear();
    call_->SetWallClock(step_ms);
    call_->Run(5000, 400'000);
    for (const Arrival& arrival : arrivals) ASSERT_LT(arrival.queueing_delay, TimeDelta::Millis(10));
    for (const ReceiveSideDecision& decision : decisions_) ASSERT_EQ(decision.counters.guard.Of("stale"), 0u);
    EXPECT_NEAR(ReceiveRateBps(decisions_.back()), 400'000, 90'000);
  }
}

// An end that only sends, or has no video: nothing ever comes.
TEST_F(Switch, WithoutAnyPacketItFallsSilentAndSpeaksWithTheFirst) {
  Begin(Config(ReceiveSideMode::kWeir));
  call_->Run(600'000, 0);
  EXPECT_NEAR(static_cast<double>(call_->rembs().size()), 50, 2);
  EXPECT_LE(call_->rembs().back().time_us, 1'010'000'000);
  call_->rembs().clear();
  // The host reports that its transport is ready.
  switch_->RepeatRemb();
  call_->Run(100, 0);
  EXPECT_EQ(call_->rembs().size(), 1u);
  call_->Run(10'000, 0);
  call_->rembs().clear();
  call_->Run(250, 300'000);
  EXPECT_GE(call_->rembs().size(), 1u);
}

// The first REMB are lost, and the sender begins at its encoder's maximum.
TEST_F(Switch, RepeatsWhileASenderSendsMoreThanItWasTold) {
  Begin(Config(ReceiveSideMode::kWeir, Fixed(300)));
  call_->Run(500, 0);
  call_->rembs().clear();
  call_->Run(1000, 2'500'000);
  EXPECT_GE(call_->rembs().size(), 5u);
  EXPECT_LE(call_->rembs().size(), 6u);
  EXPECT_EQ(LastBps(), 300'000);
  call_->rembs().clear();
  call_->Run(10'000, 290'000);
  EXPECT_LE(call_->rembs().size(), 11u);
}

TEST_F(Switch, ANewControllerIsAlsoForTheNextSwitchToWeir) {
  Begin(Config(ReceiveSideMode::kWeir, RuleAlone()));
  call_->Run(500, 400'000);
  EXPECT_EQ(decisions_.back().controller, "rule");

  switch_->SetController(Fixed(777));
  switch_->SetMode(ReceiveSideMode::kGcc);
  call_->Run(200, 400'000);
  switch_->SetMode(ReceiveSideMode::kWeir);
  call_->Run(3000, 777'000);
  EXPECT_EQ(decisions_.back().controller, "fixed");
  EXPECT_EQ(LastBps(), 777'000);
}

TEST_F(Switch, RunsAPolicyAndRefusesWhatIsNone) {
  const auto refused = PolicyAlone(ReadTestModel("truncated"));
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().empty());

  const auto policy = PolicyAlone(ReadTestModel("rate_bps"));
  ASSERT_TRUE(policy) << policy.error();
  Begin(Config(ReceiveSideMode::kWeir, policy.value()));
  call_->Run(1000, 400'000);
  EXPECT_EQ(decisions_.back().controller, "weir");
  EXPECT_EQ(decisions_.back().counters.controller.faults, 0u);
  EXPECT_GT(decisions_.back().counters.controller.decisions, 5u);
}

TEST_F(Switch, APolicyDecidesInTheHostsExecutor) {
  for (const TimeDelta delay : {TimeDelta::Millis(60), TimeDelta::Seconds(2)}) {
    const auto policy = PolicyAlone(ReadTestModel("rate_bps"), MakeDelayedInline([delay] { return delay; }));
    ASSERT_TRUE(policy) << policy.error();
    Begin(Config(ReceiveSideMode::kWeir, policy.value()));
    call_->Run(1000, 400'000);
    const bool is_late = delay > TimeDelta::Millis(100);
    EXPECT_EQ(decisions_.back().controller, is_late ? "fallback" : "weir");
    EXPECT_EQ(decisions_.back().counters.controller.faults > 0, is_late);
  }
}

TEST_F(Switch, APoolsSeatsChangeInTheCall) {
  const auto pool = PoolOf("pilot=nada copilots=rule,gcc-remb fusion=min", {});
  ASSERT_TRUE(pool) << pool.error();
  Begin(Config(ReceiveSideMode::kWeir, pool.value()));
  call_->Run(2000, 400'000);
  EXPECT_EQ(roles_, "pilot copilot copilot ");
  EXPECT_FALSE(switch_->ConfigurePool("pilot=rule copilots=gcc-remb fusion=max"));
  call_->Run(500, 400'000);
  EXPECT_EQ(roles_, "watching pilot copilot ");
  EXPECT_FALSE(switch_->ConfigurePool("pilot=fixed"));
  EXPECT_TRUE(switch_->ConfigurePool("pilot"));
  call_->Run(500, 400'000);
  EXPECT_EQ(roles_, "watching pilot copilot ");
  EXPECT_FALSE(PoolOf("pilot=weir copilots=nada", {}));
}

TEST_F(Switch, AModelIsReplacedInTheCallAndInThoseToCome) {
  const auto policy = PolicyAlone(ReadTestModel("rate_bps"));
  const auto recurrent = PolicyAlone(ReadTestModel("recurrent"));
  ASSERT_TRUE(policy && recurrent);
  Begin(Config(ReceiveSideMode::kWeir, policy.value()));
  call_->Run(3000, 400'000);
  // The first asks for as much as it sees, at most; the recurrent one for a Mbps more at each decision.
  const DataRate before = decisions_.back().estimate.target_rate;
  switch_->SetController(recurrent.value());
  call_->Run(200, 400'000);
  // It goes on from where the call is.
  EXPECT_LT(decisions_.back().estimate.target_rate, before * 2);
  call_->Run(3000, 400'000);
  EXPECT_GT(decisions_.back().estimate.target_rate, before * 1.2);
  EXPECT_EQ(decisions_.back().counters.controller.faults, 0u);
  const DataRate with_it = decisions_.back().estimate.target_rate;

  decisions_.clear();
  call_.emplace();
  call_->Run(7000, 400'000);
  EXPECT_GT(decisions_.back().estimate.target_rate, before * 1.2);
  EXPECT_LT(decisions_.back().estimate.target_rate, with_it * 2);
}

TEST(ReceiveSideMode, HasNames) {
  for (const auto mode : {ReceiveSideMode::kGcc, ReceiveSideMode::kWeir, ReceiveSideMode::kShadow}) {
    EXPECT_EQ(ParseReceiveSideMode(ToString(mode)), mode);
  }
  EXPECT_FALSE(ParseReceiveSideMode("GCC"));
}

}  // namespace
}  // namespace weir
