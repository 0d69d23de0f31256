// The two ends of an RTP flow: packets, feedback and its times, and the messages that a controller at the sender
// receives.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/event.h"
#include "endpoints/congestion_control_feedback.h"
#include "endpoints/controllers.h"
#include "endpoints/flow.h"
#include "endpoints/rtp_format.h"
#include "endpoints/rtp_receiver.h"
#include "endpoints/rtp_sender.h"
#include "endpoints/transport_feedback.h"
#include "media/media_source.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"
#include "weir/testing/mock_controllers.h"
#include "weir/testing/unlimited_controllers.h"

namespace weir::sim {
namespace {

json FixedAt(int64_t rate_bps, double duration_s) {
  json scenario = Steady(5'000'000, duration_s);
  scenario["flows"][0]["controller"] = "fixed";
  scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
  return scenario;
}

TEST(RtpFlowTest, PacketsAreRtp) {
  RecordingObserver observer;
  RunObserved(FixedAt(1'000'000, 70), "rule", observer);
  ASSERT_GT(observer.received.size(), 1000u);
  for (size_t i = 0; i < observer.received.size(); ++i) {
    const auto& [packet, arrival] = observer.received[i];
    ASSERT_EQ(packet.rtp.sequence_number, static_cast<uint16_t>(i));
    ASSERT_EQ(packet.rtp.ssrc, observer.received[0].first.rtp.ssrc);
    ASSERT_TRUE(packet.rtp.has_abs_send_time);
    const double wrapped_s = std::fmod(packet.sent_time.seconds(), 64.0);
    ASSERT_NEAR(packet.rtp.abs_send_time / 262144.0, wrapped_s, 4e-6);
    ASSERT_EQ(packet.size_bytes, packet.rtp.header_size + packet.rtp.payload_size + kUdpIpOverheadBytes);
    ASSERT_EQ(packet.rtp.arrival_time, ToTimestamp(arrival));
  }
}

TEST(RtpFlowTest, TheSendersClockShowsInTimestampsOnly) {
  json scenario = FixedAt(1'000'000, 10);
  scenario["flows"][0]["media"] = {{"kind", "video"}};
  RecordingObserver right, wrong;
  RunObserved(scenario, "rule", right);
  scenario["flows"][0]["sender_clock_ppm"] = -5000;
  scenario["flows"][0]["sender_clock_offset_s"] = 60.0;
  RunObserved(scenario, "rule", wrong);
  ASSERT_EQ(right.sent.size(), wrong.sent.size());
  for (size_t i = 0; i < right.sent.size(); ++i) {
    const Packet& packet = wrong.sent[i];
    ASSERT_EQ(packet.sent_time, right.sent[i].sent_time);
    const double shown_s = 60 + packet.sent_time.seconds() * 0.995;
    ASSERT_NEAR(packet.rtp.abs_send_time / 262144.0, std::fmod(shown_s, 64.0), 4e-6);
    const double ticks = packet.rtp.rtp_timestamp - 60.0 * packet.rtp.rtp_clock_rate;
    ASSERT_NEAR(ticks, 0.995 * right.sent[i].rtp.rtp_timestamp, 2);
  }
}

TEST(RtpFlowTest, ASendersClockMayBeSet) {
  json scenario = FixedAt(1'000'000, 10);
  RecordingObserver right, set;
  RunObserved(scenario, "rule", right);
  scenario["flows"][0]["sender_clock_ppm"] = 1000;
  scenario["flows"][0]["sender_clock_steps"] = {{"times_s", {0, 3, 7}}, {"steps_ms", {10'000, -4'000, 250.5}}};
  RunObserved(scenario, "rule", set);
  ASSERT_EQ(right.sent.size(), set.sent.size());
  for (size_t i = 0; i < right.sent.size(); ++i) {
    const Packet& packet = set.sent[i];
    ASSERT_EQ(packet.sent_time, right.sent[i].sent_time);
    const double set_s = packet.sent_time < 3 * kSecond ? 10 : packet.sent_time < 7 * kSecond ? 6 : 6.2505;
    ASSERT_NEAR(packet.rtp.abs_send_time / 262144.0, set_s + static_cast<double>(packet.sent_time.ns()) * 1.001e-9,
                4e-6);
    const double captured_s = right.sent[i].rtp.rtp_timestamp / 90e3;
    if (std::abs(captured_s - 3) < 0.1 || std::abs(captured_s - 7) < 0.1) continue;
    ASSERT_NEAR(packet.rtp.rtp_timestamp / 90e3, set_s + captured_s * 1.001, 4e-5);
  }
}

// A controller at the sender measures arrivals by the receiver's clock, and its own packets by its own.
TEST(RtpFlowTest, ClockErrorReachesControllersAtTheSender) {
  json scenario = Steady(2'000'000, 30);
  const auto right = RunScenario(scenario, "gcc")["flows"][0];
  scenario["flows"][0]["sender_clock_ppm"] = -5000;
  // Delays seem to grow by 5 ms a second.
  const auto slow = RunScenario(scenario, "gcc")["flows"][0];
  EXPECT_NE(right["packets_sent"], slow["packets_sent"]);
  scenario["flows"][0]["sender_clock_ppm"] = 0;
  scenario["flows"][0]["sender_clock_offset_s"] = 60.0;
  EXPECT_EQ(RunScenario(scenario, "gcc")["flows"][0], right);
  scenario["flows"][0]["sender_clock_steps"] = {{"times_s", {15}}, {"steps_ms", {-200}}};
  EXPECT_NE(RunScenario(scenario, "gcc")["flows"][0]["packets_sent"], right["packets_sent"]);
}

TEST(RtpFlowTest, VideoAndAudioAreStreamsOfTheirOwn) {
  json scenario = FixedAt(1'000'000, 10);
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  std::array<int, kStreamsPerFlow> next{};
  for (const Packet& packet : observer.sent) {
    const int stream = StreamOf(packet.rtp.kind);
    ASSERT_EQ(packet.rtp.ssrc, SsrcOf(0, packet.rtp.kind));
    ASSERT_EQ(packet.rtp.sequence_number, next[static_cast<size_t>(stream)]++);
  }
  EXPECT_NEAR(next[1], 500, 1);  // audio every 20 ms
  EXPECT_GT(next[0], 500);
  EXPECT_EQ(next[2], 0);
}

TEST(RtpFlowTest, FeedbackTakesTheReversePathsTime) {
  json scenario = FixedAt(1'000'000, 5);
  scenario["reverse"] = {{"one_way_delay_ms", 200.0}};
  scenario["flows"][0]["extra_one_way_delay_ms"] = 10.0;
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  // Before the first packet the start rate holds; the next REMB is due 200 ms after the first.
  const std::vector<std::pair<SimTime, int64_t>> expected{{kTimeZero, 300'000},
                                                          {410 * kMs, observer.targets.back().second}};
  EXPECT_EQ(observer.targets, expected);
  // REMB rounds down to 18 bits.
  EXPECT_NEAR(static_cast<double>(observer.targets.back().second), 1e6, 5.0);
  EXPECT_EQ(observer.received.front().second - observer.received.front().first.sent_time,
            35 * kMs + TransmissionTime(observer.received.front().first.size_bytes, 5'000'000));
}

TEST(RtpFlowTest, FeedbackWaitsInTheReverseQueue) {
  json scenario = FixedAt(1'000'000, 5);
  // 28 + 24 bytes of REMB, about one stream, take 208 ms.
  scenario["reverse"] = {{"one_way_delay_ms", 25.0}, {"capacity", {{"times_s", {0.0}}, {"rates_bps", {2'000}}}}};
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  ASSERT_EQ(observer.targets.size(), 2u);
  EXPECT_EQ(observer.targets[1].first, (200 + 25 + 208) * kMs);
}

TEST(RtpFlowTest, FeedbackCanBeLost) {
  json scenario = FixedAt(1'000'000, 60);
  scenario["reverse"] = {{"loss", {{"kind", "bernoulli"}, {"ratio", 1.0}}}};
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  EXPECT_EQ(observer.targets.size(), 1u);

  scenario["reverse"]["loss"]["ratio"] = 0.5;
  const auto flow = RunScenario(scenario, "rule")["flows"][0];
  const double lost = flow["feedback_packets_lost"].get<double>() / flow["feedback_packets_sent"].get<double>();
  EXPECT_GT(lost, 0.35);
  EXPECT_LT(lost, 0.65);
  EXPECT_EQ(flow["packets_lost"], 0);
  // Repeated each second, it gets through in the end.
  EXPECT_NEAR(MeanOver(flow, "target_bps", 30, 60), 1e6, 1e3);
}

TEST(RtpFlowTest, StartsPausesAndStops) {
  json scenario = FixedAt(1'000'000, 20);
  scenario["flows"][0]["start_s"] = 2.0;
  scenario["flows"][0]["stop_s"] = 15.0;
  scenario["flows"][0]["pauses_s"] = {{5.0, 8.0}, {9.0, 10.0}};
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  EXPECT_EQ(observer.sent.front().sent_time, 2 * kSecond);
  std::array<int, 20> per_second{};
  for (const Packet& packet : observer.sent) ++per_second[static_cast<size_t>(packet.sent_time.ns() / kSecond.ns())];
  for (size_t second = 0; second < per_second.size(); ++second) {
    const bool silent = second < 2 || (second >= 5 && second < 8) || second == 9 || second >= 15;
    if (silent) {
      EXPECT_EQ(per_second[second], 0) << second;
    } else {
      EXPECT_GT(per_second[second], 80) << second;
      EXPECT_LT(per_second[second], 110) << second;
    }
  }
}

TEST(RtpFlowTest, SeriesCountFeedbackAboutTheRateAndNoOtherRtcp) {
  const auto at_receiver = RunScenario(FixedAt(1'000'000, 20), "rule")["flows"][0];
  // Each second at least, and a report beside it.
  EXPECT_NEAR(MeanOver(at_receiver, "rate_feedback_sent", 10, 20) * 10, 1.5, 0.6);
  EXPECT_GT(at_receiver["feedback_packets_sent"].get<double>(),
            MeanOver(at_receiver, "rate_feedback_sent", 0, 20) * 200 + 18);
  const auto at_sender = RunScenario(FixedAt(1'000'000, 20), "nada")["flows"][0];
  EXPECT_GT(MeanOver(at_sender, "rate_feedback_sent", 10, 20) * 10, 0.9);
}

TEST(RtpFlowTest, SeriesShowWhatTheReceiverSaidAndWhenTheSenderHeardIt) {
  json scenario = FixedAt(1'000'000, 5);
  scenario["reverse"] = {{"one_way_delay_ms", 200.0}};
  const json series = RunScenario(scenario, "rule")["flows"][0]["series"];
  // The first REMB after packets is due 200 ms after the first, and comes 200 ms later.
  EXPECT_EQ(series["remb_bps"][1], 300'000);
  EXPECT_NEAR(series["remb_bps"][2].get<double>(), 1e6, 5.0);
  EXPECT_EQ(series["target_bps"][3], 300'000);
  EXPECT_NEAR(series["target_bps"][4].get<double>(), 1e6, 5.0);
  EXPECT_EQ(series["feedback_delay_ms"][3], nullptr);
  EXPECT_EQ(series["feedback_delay_ms"][4], 200.0);
  // A controller at the sender sends no REMB.
  scenario["flows"][0]["controller"] = "gcc";
  const json at_sender = RunScenario(scenario, "gcc")["flows"][0]["series"];
  EXPECT_FALSE(at_sender.contains("remb_bps"));
  EXPECT_EQ(at_sender["feedback_delay_ms"][10], 200.0);
}

TEST(RtpFlowTest, SeriesTellRetransmissionsDropsAndKeyFramesApart) {
  json scenario = FixedAt(1'000'000, 10);
  scenario["forward"]["capacity"]["rates_bps"] = {800'000};
  scenario["flows"][0]["media"] = {
      {"kind", "video"}, {"key_frame_interval_s", 4.0}, {"rise_time_constant_s", 1.0}, {"fall_time_constant_s", 0.2}};
  const json flow = RunScenario(scenario, "rule")["flows"][0];
  const json& series = flow["series"];
  double lost = 0, at_queue = 0, retransmitted = 0, probes = 0;
  for (size_t i = 0; i < series["packets_lost"].size(); ++i) {
    lost += series["packets_lost"][i].get<double>();
    at_queue += series["packets_lost_at_queue"][i].get<double>();
    retransmitted += series["retransmission_rate_bps"][i].get<double>();
    probes += series["probe_rate_bps"][i].get<double>();
  }
  EXPECT_GT(at_queue, 0);
  EXPECT_EQ(at_queue, lost);
  EXPECT_EQ(at_queue, flow["packets_lost_by_cause"]["queue"].get<double>());
  EXPECT_GT(retransmitted, 0);
  EXPECT_EQ(probes, 0);
  const json& frames = series["frames"];
  std::vector<int64_t> key_frames_us;
  for (size_t i = 0; i < frames["bytes"].size(); ++i) {
    EXPECT_GE(frames["sent_time_us"][i], frames["capture_time_us"][i]);
    if (frames["key_frame"][i] == 1) key_frames_us.push_back(frames["capture_time_us"][i].get<int64_t>());
  }
  ASSERT_GE(key_frames_us.size(), 3u);
  EXPECT_EQ(key_frames_us[0], 0);
}

TEST(RtpFlowTest, ArrivalsAreSeenInOrderWhateverTheJitter) {
  json scenario = FixedAt(3'000'000, 20);
  scenario["forward"]["jitter"] = {
      {"kind", "truncated_gaussian"}, {"standard_deviation_ms", 10.0}, {"maximum_ms", 40.0}, {"reorder", true}};
  RecordingObserver observer;
  RunObserved(scenario, "rule", observer);
  int reordered = 0;
  for (size_t i = 1; i < observer.received.size(); ++i) {
    ASSERT_LE(observer.received[i - 1].second, observer.received[i].second);
    reordered +=
        observer.received[i].first.transport_sequence_number < observer.received[i - 1].first.transport_sequence_number;
  }
  EXPECT_GT(reordered, 100);
  EXPECT_GE(observer.received.size() + 50, observer.sent.size());
}

class SenderSideTest : public SimulationTest {
 protected:
  void Run(double loss_ratio, SimDuration duration, bool rfc_8888 = false) {
    LinkSpec spec = UsualLink();
    spec.capacity = CapacityTrace({kTimeZero}, {5'000'000});
    if (loss_ratio > 0) spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = loss_ratio};
    LinkSpec back = UsualLink();
    Link forward(spec, duration, 1, 0), reverse(back, duration, 1, 8);
    auto mock = std::make_unique<MockSenderController>([this](Timestamp now) {
      SenderControlUpdate update = update_;
      update.target_rate = TargetTransferRate{now, DataRate::KilobitsPerSecond(1'000)};
      update.pacer_config = PacerConfig{now, DataRate::KilobitsPerSecond(2'500), DataRate::Zero()};
      return update;
    });
    const MockSenderController& recorded = *mock;
    Run(forward, reverse, duration, DataRate::KilobitsPerSecond(50'000), std::move(mock), rfc_8888,
        [&] { events_ = recorded.events(); });
  }

  // Runs a flow of filler at `media_rate` under a controller, which `at_end` may still read.
  void Run(Link& forward, Link& reverse, SimDuration duration, DataRate media_rate,
           std::unique_ptr<SenderController> at_sender, bool rfc_8888, const std::function<void()>& at_end) {
    SimulationJob job;
    FlowSpec& flow_spec = job.scenario.flows.emplace_back();
    flow_spec.stop = kTimeZero + duration;
    flow_spec.kind = RtpSpec();
    const Flow flow{.job = job, .index = 0, .data_link = &forward, .return_link = &reverse, .observer = &observer_};
    FlowController controller;
    controller.at_sender = std::move(at_sender);
    controller.congestion_control_feedback = rfc_8888;
    RtpSender sender(flow, TargetRateConstraints(), controller,
                     std::make_unique<FillerSource>(kSendSideOverheadBytes, media_rate));
    RtpReceiver receiver(flow, controller, sender.rtcp_sink());
    sender.SetReceiver(receiver.rtp_sink());
    RunUntil(kTimeZero + duration);
    ns3::Simulator::Destroy();
    at_end();
  }

  // Requests of the controller besides its rates.
  SenderControlUpdate update_;
  MockSenderController::Events events_;
  RecordingObserver observer_;
};

TEST_F(SenderSideTest, AnUnlimitedControllerSendsWhatTheMediaHave) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({kTimeZero}, {5'000'000});
  Link forward(spec, 10 * kSecond, 1, 0), reverse(UsualLink(), 10 * kSecond, 1, 8);
  Run(forward, reverse, 10 * kSecond, DataRate::KilobitsPerSecond(2'000), std::make_unique<UnlimitedSenderController>(),
      /*rfc_8888=*/false, [] {});
  double bits = 0;
  for (const auto& packet : observer_.sent) bits += packet.size_bytes * 8.0;
  EXPECT_NEAR(bits / 10, 2e6, 5e4);
}

TEST_F(SenderSideTest, HearsOfEveryPacket) {
  Run(0, 20 * kSecond);
  ASSERT_EQ(events_.sent.size(), observer_.sent.size());
  double bits = 0;
  for (size_t i = 0; i < events_.sent.size(); ++i) {
    ASSERT_EQ(events_.sent[i].sequence_number, static_cast<int64_t>(i));
    ASSERT_EQ(events_.sent[i].size.bytes(), observer_.sent[i].size_bytes);
    bits += observer_.sent[i].size_bytes * 8.0;
  }
  EXPECT_NEAR(bits / 20, 1e6, 1e3);  // the target counts IP packets
  // 50 ms of round trip and at most 50 ms until the next feedback, at 1 Mbit/s.
  EXPECT_LT(events_.sent.back().data_in_flight.bytes(), 15'000);
  EXPECT_GT(events_.sent.back().data_in_flight.bytes(), 6'000);
}

TEST_F(SenderSideTest, KeepsToTheCongestionWindow) {
  update_.congestion_window = DataSize::Bytes(5'000);
  Run(0, 20 * kSecond);
  double bits = 0;
  for (const SentPacket& packet : events_.sent) {
    ASSERT_LT(packet.data_in_flight.bytes(), 5'000 + 1'500);
    bits += static_cast<double>(packet.size.bytes()) * 8;
  }
  // A window for each feedback, or for every second one.
  EXPECT_GT(bits / 20, 0.3e6);
  EXPECT_LT(bits / 20, 0.9e6);
}

TEST_F(SenderSideTest, SavesWhatDroppedFramesWouldTake) {
  update_.frame_drop_ratio = 0.25;
  Run(0, 20 * kSecond);
  double bits = 0;
  for (const SentPacket& packet : events_.sent) bits += static_cast<double>(packet.size.bytes()) * 8;
  EXPECT_NEAR(bits / 20, 0.75e6, 5e3);
}

TEST_F(SenderSideTest, FeedbackComesEvery50Ms) {
  Run(0, 20 * kSecond);
  EXPECT_NEAR(static_cast<double>(events_.feedbacks.size()), 20 / 0.05, 2);
  EXPECT_EQ(observer_.feedback_received, events_.feedbacks.size());
  int64_t next = 0;
  for (const TransportPacketsFeedback& feedback : events_.feedbacks) {
    EXPECT_EQ(feedback.feedback_time.us() % 50'000, 25'000);
    for (const PacketResult& packet : feedback.packet_feedbacks) {
      ASSERT_EQ(packet.sent_packet.sequence_number, next++);
      const TimeDelta delay = packet.receive_time - packet.sent_packet.send_time;
      ASSERT_NEAR(static_cast<double>(delay.us()), 25'000 + 2'003, 260);  // receive times come in ticks of 250 us
    }
  }
  EXPECT_EQ(events_.round_trip_times.size(), 18u);  // needs a sender report first
  for (const TimeDelta round_trip_time : events_.round_trip_times) {
    EXPECT_NEAR(static_cast<double>(round_trip_time.us()), 50'000, 2'500);
  }
}

// Without frames the first packet is reported 25 ms after its arrival.
TEST_F(SenderSideTest, CongestionControlFeedbackHasTheTimesOfM150) {
  Run(0, 20 * kSecond, /*rfc_8888=*/true);
  EXPECT_GT(events_.feedbacks.size(), 20 / 0.045);
  EXPECT_LT(events_.feedbacks.size(), 20 / 0.025);
  EXPECT_EQ(observer_.feedback_received, events_.feedbacks.size());
  int64_t next = 0;
  for (const TransportPacketsFeedback& feedback : events_.feedbacks) {
    ASSERT_FALSE(feedback.packet_feedbacks.empty());
    for (const PacketResult& packet : feedback.packet_feedbacks) {
      ASSERT_EQ(packet.sent_packet.sequence_number, next++);
      ASSERT_TRUE(packet.arrival_time_offset);
      // The offset is rounded down to 1/1024 s, and so the receive time up.
      const auto sent_us = (feedback.feedback_time - *packet.arrival_time_offset).us() - 25'000;
      ASSERT_NEAR(static_cast<double>(packet.receive_time.us()), static_cast<double>(sent_us), 1);
      const TimeDelta error = packet.receive_time - packet.sent_packet.send_time - TimeDelta::Micros(25'000 + 2'003);
      ASSERT_GE(error.us(), -3);
      ASSERT_LE(error.us(), 980);
    }
    EXPECT_NEAR(feedback.packet_feedbacks.front().arrival_time_offset->seconds(), 0.025, 0.001);
  }
}

TEST_F(SenderSideTest, CongestionControlFeedbackReportsEachLossOnceAsNew) {
  Run(0.1, 60 * kSecond, /*rfc_8888=*/true);
  int64_t lost = 0, recovered = 0;
  for (const TransportPacketsFeedback& feedback : events_.feedbacks) {
    for (const PacketResult& packet : feedback.packet_feedbacks) {
      lost += packet.reported_lost_for_the_first_time;
      recovered += packet.reported_recovered_for_the_first_time;
    }
  }
  EXPECT_NEAR(static_cast<double>(lost), static_cast<double>(observer_.dropped.size()), 3);
  EXPECT_EQ(recovered, 0);
}

TEST_F(SenderSideTest, LossIsInFeedbackAndReports) {
  Run(0.1, 60 * kSecond);
  int64_t lost = 0, all = 0;
  for (const TransportPacketsFeedback& feedback : events_.feedbacks) {
    for (const PacketResult& packet : feedback.packet_feedbacks) {
      ++all;
      lost += !packet.receive_time.IsFinite();
    }
  }
  const auto dropped = static_cast<int64_t>(observer_.dropped.size());
  EXPECT_LE(lost, dropped);
  EXPECT_GE(lost, dropped - 3);
  EXPECT_EQ(events_.feedbacks.back().packet_feedbacks.back().sent_packet.sequence_number, all - 1);
  int64_t reported_lost = 0, reported_received = 0;
  for (const TransportLossReport& report : events_.loss_reports) {
    reported_lost += report.packets_lost_delta;
    reported_received += report.packets_received_delta;
    EXPECT_NEAR((report.end_time - report.start_time).seconds(), 1.0, 0.03);
  }
  EXPECT_EQ(events_.loss_reports.size(), 59u);
  EXPECT_NEAR(static_cast<double>(reported_lost), static_cast<double>(dropped), 0.04 * static_cast<double>(dropped));
  EXPECT_NEAR(static_cast<double>(reported_lost) / static_cast<double>(reported_lost + reported_received), 0.1, 0.02);
}

TEST(TransportFeedbackBuilderTest, ReportsWhatIsMissingAndWhatComesLate) {
  TransportFeedbackBuilder builder;
  EXPECT_FALSE(builder.Build(kTimeZero));
  builder.OnPacket(0, 1 * kMs);
  builder.OnPacket(3, Ns(2'100'000), EcnMarking::kEct1);
  const auto first = builder.Build(50 * kMs);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->base_sequence_number, 0);
  EXPECT_EQ(first->receive_times_us,
            (std::vector<int64_t>{1'000, TransportFeedback::kNotReceived, TransportFeedback::kNotReceived, 2'000}));
  EXPECT_EQ(first->ecn[3], EcnMarking::kEct1);
  EXPECT_FALSE(builder.Build(100 * kMs));
  builder.OnPacket(2, 120 * kMs);
  builder.OnPacket(4, 121 * kMs);
  const auto second = builder.Build(150 * kMs);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->base_sequence_number, 2);
  EXPECT_EQ(second->receive_times_us, (std::vector<int64_t>{120'000, 2'000, 121'000}));
  // Too late: what has been reported on for more than 500 ms is forgotten.
  builder.OnPacket(5, 900 * kMs);
  builder.Build(900 * kMs);
  builder.OnPacket(1, 901 * kMs);
  EXPECT_FALSE(builder.Build(950 * kMs));
}

TEST(WithoutLossesTest, EndsAMessageBeforeEachLoss) {
  const int64_t kLost = TransportFeedback::kNotReceived;
  const std::vector<TransportFeedback> messages =
      WithoutLosses({.base_sequence_number = 5, .receive_times_us = {kLost, 1'000, 2'000, kLost, kLost, 3'000}});
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].base_sequence_number, 6);
  EXPECT_EQ(messages[0].receive_times_us, (std::vector<int64_t>{1'000, 2'000}));
  EXPECT_EQ(messages[1].base_sequence_number, 10);
  EXPECT_EQ(messages[1].receive_times_us, std::vector<int64_t>{3'000});
}

// `packets` of 100 bytes, one a millisecond, of the streams in turn.
void SendInTurn(SentPacketHistory& history, int64_t packets, int streams) {
  for (int64_t i = 0; i < packets; ++i) {
    SentPacket packet;
    packet.send_time = Timestamp::Millis(i);
    packet.size = DataSize::Bytes(100);
    packet.sequence_number = i;
    history.OnSentPacket(packet, static_cast<int>(i % streams));
    EXPECT_EQ(packet.data_in_flight.bytes(), 100 * (i + 1));
  }
}

TEST(SentPacketHistoryTest, MatchesReportsOfStreams) {
  SentPacketHistory history;
  // 0 2 4 6 and 1 3 5 7.
  SendInTurn(history, 8, 2);
  const int64_t kLost = TransportFeedback::kNotReceived;
  CongestionControlFeedback first{.report_time_us = 50'000};
  first.streams[0].receive_times_us = {30'000, kLost};
  first.streams[1] = {.base_sequence_number = 2, .receive_times_us = {40'000}, .ecn = {EcnMarking::kCe}};
  auto feedback = history.OnCongestionControlFeedback(first, Timestamp::Millis(60));
  ASSERT_TRUE(feedback);
  // 0 and 5 arrived, 2 is reported lost, and 1, 3 and 4 were sent between.
  ASSERT_EQ(feedback->packet_feedbacks.size(), 6u);
  EXPECT_EQ(feedback->data_in_flight.bytes(), 200);
  for (size_t i = 0; i < 6; ++i) {
    const PacketResult& packet = feedback->packet_feedbacks[i];
    EXPECT_EQ(packet.sent_packet.sequence_number, static_cast<int64_t>(i));
    EXPECT_EQ(packet.reported_lost_for_the_first_time, i != 0 && i != 5);
    EXPECT_FALSE(packet.reported_recovered_for_the_first_time);
    EXPECT_EQ(packet.ecn, i == 5 ? EcnMarking::kCe : EcnMarking::kNotEct);
  }
  EXPECT_EQ(feedback->packet_feedbacks[5].arrival_time_offset, TimeDelta::Millis(10));
  // 2 was late, 4 is lost as before, 6 arrived.
  CongestionControlFeedback second{.report_time_us = 80'000};
  second.streams[0] = {.base_sequence_number = 1, .receive_times_us = {70'000, kLost, 71'000}};
  feedback = history.OnCongestionControlFeedback(second, Timestamp::Millis(90));
  ASSERT_TRUE(feedback);
  ASSERT_EQ(feedback->packet_feedbacks.size(), 3u);
  EXPECT_TRUE(feedback->packet_feedbacks[0].reported_recovered_for_the_first_time);
  EXPECT_FALSE(feedback->packet_feedbacks[1].reported_lost_for_the_first_time);
  EXPECT_EQ(feedback->packet_feedbacks[1].receive_time, Timestamp::PlusInfinity());
  EXPECT_FALSE(feedback->packet_feedbacks[2].reported_recovered_for_the_first_time);
  EXPECT_FALSE(history.OnCongestionControlFeedback(second, Timestamp::Millis(91)).value().packet_feedbacks.empty());
}

TEST(SentPacketHistoryTest, CountsWhatIsInFlight) {
  SentPacketHistory history;
  SendInTurn(history, 4, 1);
  const int64_t kLost = TransportFeedback::kNotReceived;
  const auto first = history.OnTransportFeedback(
      {.base_sequence_number = 0, .receive_times_us = {30'000, kLost, 31'000}}, Timestamp::Millis(60));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->data_in_flight.bytes(), 100);
  ASSERT_EQ(first->packet_feedbacks.size(), 3u);
  EXPECT_EQ(first->packet_feedbacks[1].receive_time, Timestamp::PlusInfinity());
  // The lost one was late; what was known is not repeated.
  const auto second = history.OnTransportFeedback({.base_sequence_number = 1, .receive_times_us = {70'000, 31'000}},
                                                  Timestamp::Millis(90));
  ASSERT_TRUE(second);
  ASSERT_EQ(second->packet_feedbacks.size(), 1u);
  EXPECT_EQ(second->packet_feedbacks[0].sent_packet.sequence_number, 1);
  EXPECT_EQ(second->data_in_flight.bytes(), 100);
  // Packets that were never sent, and feedback with nothing new.
  EXPECT_FALSE(
      history.OnTransportFeedback({.base_sequence_number = 9, .receive_times_us = {1}}, Timestamp::Millis(91)));
  EXPECT_FALSE(
      history.OnTransportFeedback({.base_sequence_number = 0, .receive_times_us = {1}}, Timestamp::Millis(92)));
}

}  // namespace
}  // namespace weir::sim
