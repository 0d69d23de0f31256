// Contract of libwebrtc's controllers behind Weir's interfaces.
#include "rate_controllers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "scripted_call.h"

namespace weir {
namespace {

using scripted::Call;

struct ControllerCase {
  const char* name;
  std::function<std::unique_ptr<NetworkController>()> make;
  friend std::ostream& operator<<(std::ostream& out, const ControllerCase& c) { return out << c.name; }
};

constexpr Timestamp kOrigin = Timestamp::Micros(0);
const TargetRateConstraints kConstraints{.min_rate = DataRate::KilobitsPerSecond(100),
                                         .start_rate = DataRate::KilobitsPerSecond(400),
                                         .max_rate = DataRate::KilobitsPerSecond(2000)};

class RateControllers : public testing::TestWithParam<ControllerCase> {
 protected:
  std::unique_ptr<NetworkController> controller_ = GetParam().make();

  static void ExpectWithinBounds(const Call& call, const TargetRateConstraints& bounds) {
    for (const Call::Saying& saying : call.sayings()) {
      if (saying.update.target_rate) {
        EXPECT_GE(saying.update.target_rate->target_rate, bounds.min_rate);
        EXPECT_LE(saying.update.target_rate->target_rate, bounds.max_rate);
      }
      if (saying.update.pacer_config) {
        EXPECT_GE(saying.update.pacer_config->pacing_rate, bounds.min_rate);
        EXPECT_LE(saying.update.pacer_config->pacing_rate, bounds.max_rate * 1.1);
        EXPECT_GE(saying.update.pacer_config->padding_rate, DataRate::Zero());
        EXPECT_LE(saying.update.pacer_config->padding_rate, bounds.max_rate);
      }
    }
  }

  // Everything said, in numbers that do not depend on where the clock started.
  static std::string Transcript(const Call& call, Timestamp origin) {
    std::string text;
    const auto add = [&text](int64_t value) { text += std::to_string(value) + " "; };
    for (const Call::Saying& saying : call.sayings()) {
      add(saying.time.us());
      if (const auto& target = saying.update.target_rate) {
        add((target->at_time - origin).us());
        add(target->target_rate.bps());
      }
      if (const auto& pacer = saying.update.pacer_config) {
        add((pacer->at_time - origin).us());
        add(pacer->pacing_rate.bps());
        add(pacer->padding_rate.bps());
      }
      for (const ProbeClusterConfig& cluster : saying.update.probe_cluster_configs) {
        add((cluster.at_time - origin).us());
        add(cluster.id);
        add(cluster.target_data_rate.bps());
        add(cluster.target_duration.us());
        add(cluster.target_probe_count);
      }
      text += '\n';
    }
    return text;
  }
};

TEST_P(RateControllers, SaysWhoItIs) { EXPECT_EQ(controller_->name(), GetParam().name); }

TEST_P(RateControllers, StartsAtTheStartRate) {
  Call call(*controller_, kConstraints, kOrigin);
  ASSERT_EQ(call.sayings().size(), 1u);
  ASSERT_TRUE(call.sayings()[0].update.target_rate.has_value());
  EXPECT_EQ(call.sayings()[0].update.target_rate->target_rate, kConstraints.start_rate);
}

TEST_P(RateControllers, TimeoutsAdvance) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(10));
  call.BeSilent(TimeDelta::Seconds(10));
  call.Talk(TimeDelta::Seconds(10));
  EXPECT_FALSE(call.stuck());
  EXPECT_GT(controller_->next_timeout(), call.now());
}

TEST_P(RateControllers, StaysWithinTheBounds) {
  // 800 kbps of media that arrive undisturbed, then not at all.
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(60));
  EXPECT_GT(call.LastTarget(), kConstraints.start_rate);
  call.Talk(TimeDelta::Seconds(60), /*lost=*/true);
  call.Talk(TimeDelta::Seconds(60));
  ExpectWithinBounds(call, kConstraints);
}

TEST_P(RateControllers, NewBoundsCountAtOnce) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(60));
  ASSERT_GT(call.LastTarget(), DataRate::KilobitsPerSecond(500));
  TargetRateConstraints narrow = kConstraints;
  narrow.max_rate = DataRate::KilobitsPerSecond(500);
  call.SetConstraints(narrow);
  EXPECT_EQ(call.LastTarget(), narrow.max_rate);
  call.Talk(TimeDelta::Seconds(10));
  EXPECT_LE(call.LastTarget(), narrow.max_rate);
  TargetRateConstraints high = kConstraints;
  high.min_rate = DataRate::KilobitsPerSecond(1500);
  high.start_rate = DataRate::KilobitsPerSecond(1500);
  call.SetConstraints(high);
  EXPECT_GE(call.LastTarget(), high.min_rate);
  EXPECT_LE(call.LastTarget(), high.max_rate);
}

TEST_P(RateControllers, WiderBoundsDoNotThrowTheEstimateAway) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(60));
  const DataRate before = call.LastTarget();
  ASSERT_GT(before, kConstraints.start_rate * 1.5);
  TargetRateConstraints wide = kConstraints;
  wide.max_rate = DataRate::KilobitsPerSecond(10'000);
  call.SetConstraints(wide);
  call.Talk(TimeDelta::Seconds(1));
  EXPECT_GT(call.LastTarget(), before * 0.85);
}

TEST_P(RateControllers, OneInstanceDoesNotDisturbAnother) {
  const auto other = GetParam().make();
  Call alone(*controller_, kConstraints, kOrigin);
  alone.Talk(TimeDelta::Seconds(20));
  const auto beside = GetParam().make();
  Call beside_call(*beside, kConstraints, kOrigin);
  Call other_call(*other, kConstraints, kOrigin);
  for (int i = 0; i < 20; ++i) {
    other_call.Talk(TimeDelta::Seconds(1), /*lost=*/i % 2 == 0);
    beside_call.Talk(TimeDelta::Seconds(1));
  }
  EXPECT_EQ(Transcript(alone, kOrigin), Transcript(beside_call, kOrigin));
}

TEST_P(RateControllers, TheClocksOriginDoesNotMatter) {
  const auto transcript = [](Timestamp origin) {
    const auto controller = GetParam().make();
    Call call(*controller, kConstraints, origin);
    call.Talk(TimeDelta::Seconds(20));
    return Transcript(call, origin);
  };
  const std::string at_zero = transcript(Timestamp::Micros(0));
  EXPECT_EQ(at_zero, transcript(Timestamp::Seconds(-3600)));
  EXPECT_EQ(at_zero, transcript(Timestamp::Micros(123'456'789'012'345)));
}

TEST_P(RateControllers, SurvivesASilenceOfThreeHours) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(10));
  call.BeSilent(TimeDelta::Seconds(3 * 3600));
  call.Talk(TimeDelta::Seconds(60));
  EXPECT_FALSE(call.stuck());
  ExpectWithinBounds(call, kConstraints);
  EXPECT_GE(call.LastTarget(), kConstraints.min_rate);
}

TEST_P(RateControllers, SurvivesFeedbackInWhichEverythingIsLost) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(30), /*lost=*/true);
  EXPECT_FALSE(call.stuck());
  ExpectWithinBounds(call, kConstraints);
  // Nothing has arrived, so it has no reason to increase.
  EXPECT_LE(call.LastTarget(), kConstraints.start_rate);
}

TEST_P(RateControllers, TakesAnythingAHostMayHandIn) {
  Call call(*controller_, kConstraints, kOrigin);
  call.Talk(TimeDelta::Seconds(5));
  const Timestamp now = call.now();
  for (const TimeDelta rtt :
       {TimeDelta::Zero(), TimeDelta::Micros(-5), TimeDelta::Micros(1), TimeDelta::PlusInfinity()}) {
    controller_->OnRoundTripTimeUpdate({.receive_time = now, .round_trip_time = rtt});
  }
  controller_->OnRoundTripTimeUpdate({});
  if (auto* const sender = dynamic_cast<SenderController*>(controller_.get())) {
    sender->OnTransportLossReport({.receive_time = now, .start_time = now, .end_time = now});
    sender->OnTransportLossReport({.receive_time = now,
                                   .start_time = now,
                                   .end_time = now,
                                   .packets_lost_delta = -1000,
                                   .packets_received_delta = -5});
    sender->OnTransportLossReport({.receive_time = now,
                                   .start_time = now,
                                   .end_time = now,
                                   .packets_lost_delta = -1000,
                                   .packets_received_delta = 5});
    TransportPacketsFeedback feedback;
    feedback.feedback_time = now;
    sender->OnTransportPacketsFeedback(feedback);
    // Never sent, and a probe of a cluster without a size.
    feedback.packet_feedbacks.resize(2);
    feedback.packet_feedbacks[1].sent_packet.send_time = now - TimeDelta::Millis(40);
    feedback.packet_feedbacks[1].sent_packet.size = DataSize::Bytes(500);
    feedback.packet_feedbacks[1].sent_packet.pacing_info.probe_cluster_id = 7;
    feedback.packet_feedbacks[1].receive_time = now - TimeDelta::Millis(20);
    sender->OnTransportPacketsFeedback(feedback);
    // Without a time.
    sender->OnSentPacket({});
    sender->OnTransportPacketsFeedback({});
    sender->OnTransportLossReport({});
  }
  if (auto* const receiver = dynamic_cast<ReceiverController*>(controller_.get())) {
    Arrival arrival;
    receiver->OnArrival(arrival);
    arrival.packet.has_abs_send_time = true;
    arrival.packet.abs_send_time = 0xFFFFFFFF;
    arrival.packet.payload_size = 0xFFFFFFFF;
    arrival.packet.padding_size = 0xFFFFFFFF;
    arrival.packet.arrival_time = now - TimeDelta::Seconds(3);
    receiver->OnArrival(arrival);
  }
  call.Talk(TimeDelta::Seconds(5));
  EXPECT_FALSE(call.stuck());
  ExpectWithinBounds(call, kConstraints);
}

// Media of 800 kbps where it may send more: only a probe can tell that the path carries more.
TEST(GccController, KeepsProbingWhenTheApplicationIsTheLimit) {
  TargetRateConstraints constraints = kConstraints;
  constraints.start_rate = DataRate::KilobitsPerSecond(3000);
  constraints.max_rate = DataRate::KilobitsPerSecond(8000);
  const auto controller = MakeGccController();
  Call call(*controller, constraints, kOrigin);
  call.Talk(TimeDelta::Seconds(40));
  const auto probes_late = [](const Call::Saying& saying) {
    return saying.time > TimeDelta::Seconds(15) && !saying.update.probe_cluster_configs.empty();
  };
  EXPECT_GE(std::ranges::count_if(call.sayings(), probes_late), 2);
}

TEST(ScreamController, SetsACongestionWindow) {
  if (LibwebrtcMilestone() < 150) GTEST_SKIP() << "libwebrtc " << LibwebrtcVersion() << " has no SCReAM";
  const auto controller = MakeScreamController();
  Call call(*controller, {}, kOrigin);
  call.Talk(TimeDelta::Seconds(5));
  EXPECT_TRUE(std::ranges::any_of(call.sayings(), [](const Call::Saying& saying) {
    return saying.update.congestion_window && saying.update.congestion_window->IsFinite();
  }));
}

std::vector<ControllerCase> Controllers() {
  std::vector<ControllerCase> controllers = {
      {"gcc", [] { return MakeGccController(); }}, {"gcc-remb", MakeGccRembController}, {"pcc", MakePccController}};
  if (LibwebrtcMilestone() >= 150) controllers.push_back({"scream", [] { return MakeScreamController(); }});
  return controllers;
}

INSTANTIATE_TEST_SUITE_P(Libwebrtc, RateControllers, testing::ValuesIn(Controllers()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace weir
