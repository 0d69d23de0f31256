// ns-3's TCP over our links: it fills them, reacts to loss, and shares.
#include <algorithm>
#include <cmath>
#include <memory>

#include "flows/flow_set.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

using enum TcpCongestionControl;

FlowSpec EndlessTcp(TcpCongestionControl congestion_control, SimTime stop, SimTime start = kTimeZero) {
  FlowSpec flow;
  flow.start = start;
  flow.stop = stop;
  flow.kind = TcpSpec{congestion_control, std::nullopt};
  return flow;
}

FlowSpec ShortTransfers(TcpCongestionControl congestion_control, const TcpTransfers& transfers, SimTime stop) {
  FlowSpec flow = EndlessTcp(congestion_control, stop);
  flow.kind = TcpSpec{congestion_control, transfers};
  return flow;
}

double Mbps(int64_t bytes, double seconds) { return static_cast<double>(bytes) * 8e-6 / seconds; }

LinkSpec AsLongAs(const LinkSpec& other) {
  LinkSpec spec = UsualLink();
  spec.one_way_delay = other.one_way_delay;
  return spec;
}

// A simulation of its own with one flow. Acknowledgements have an unlimited link with the delay of the data's.
struct OneFlow {
  OneFlow(const LinkSpec& spec, const FlowSpec& flow, SimTime count_from = kTimeZero)
      : OneFlow(spec, AsLongAs(spec), flow, count_from) {}
  OneFlow(const LinkSpec& spec, const LinkSpec& back, const FlowSpec& flow, SimTime count_from = kTimeZero)
      : data(spec, flow.stop - kTimeZero, 1, 0), acknowledgements(back, flow.stop - kTimeZero, 1, 8) {
    UseEventEngine();
    observer.count_from = count_from;
    started = StartFlow(flow, &data, &acknowledgements, &observer);
  }
  ~OneFlow() { ns3::Simulator::Destroy(); }
  // The rate from `count_from` to `end`.
  double late_mbps(SimTime end) const {
    return Mbps(observer.bytes_received_late, (end - observer.count_from).seconds());
  }

  Link data, acknowledgements;
  CountingObserver observer;
  std::shared_ptr<void> started;
};

using TcpFlowTest = SimulationTest;

TEST_F(TcpFlowTest, FillsALink) {
  for (const auto congestion_control : {kCubic, kBbr, kNewReno, kLinuxReno, kVegas}) {
    for (const int64_t rate_bps : {1'000'000, 6'000'000}) {
      // Vegas leaves slow start early, and then grows by a packet a round trip.
      if (congestion_control == kVegas && rate_bps > 1'000'000) continue;
      const OneFlow flow(LinkOf(rate_bps), EndlessTcp(congestion_control, 30 * kSecond), 10 * kSecond);
      RunUntil(30 * kSecond);
      const double utilisation = flow.late_mbps(30 * kSecond) * 1e6 / static_cast<double>(rate_bps);
      EXPECT_GT(utilisation, 0.9) << ToString(congestion_control) << " at " << rate_bps;
      EXPECT_LE(utilisation, 1.001) << ToString(congestion_control) << " at " << rate_bps;
      // Only headers and what was sent twice are not payload.
      EXPECT_GT(flow.observer.bytes_delivered, flow.observer.bytes_received * 85 / 100);
      EXPECT_LT(flow.observer.bytes_delivered, flow.observer.bytes_received * 1448 / 1500 + 1500);
    }
  }
}

TEST_F(TcpFlowTest, BbrSurvivesAStartThatOverrunsAShortQueue) {
  LinkSpec spec = LinkOf(20'000'000, 50 * kMs);
  spec.queue = {QueueSpec::Unit::kBytes, 250'000};
  const OneFlow flow(spec, EndlessTcp(kBbr, 20 * kSecond), 2 * kSecond);
  RunUntil(20 * kSecond);
  EXPECT_GT(flow.observer.packets_dropped, 100);
  EXPECT_GT(flow.late_mbps(20 * kSecond), 17);
  EXPECT_LT(flow.late_mbps(20 * kSecond), 20.01);
}

// Ten seconds after its start BBR has four packets in flight for 200 ms. Copa would climb from there for two seconds.
TEST_F(TcpFlowTest, AMeasurementOfThePilotCostsTheOthersNothing) {
  FlowSpec fused = EndlessTcp(kBbr, 14 * kSecond);
  std::get<TcpSpec>(fused.kind).copilots = {kCopa};
  std::get<TcpSpec>(fused.kind).fusion = FusionKind::kMin;
  const OneFlow flow(LinkOf(10'000'000, 50 * kMs), fused, 10 * kSecond);
  RunUntil(14 * kSecond);
  EXPECT_GT(flow.late_mbps(14 * kSecond), 9);
  EXPECT_LT(flow.late_mbps(14 * kSecond), 9.9);
}

TEST_F(TcpFlowTest, CubicFillsTheQueueAndReactsToItsDrops) {
  const OneFlow flow(LinkOf(5'000'000), EndlessTcp(kCubic, 60 * kSecond));
  RunUntil(60 * kSecond);
  EXPECT_GT(flow.observer.packets_dropped, 10);
  // A sender that did not back off would lose far more.
  EXPECT_LT(flow.observer.packets_dropped, flow.observer.packets_sent / 20);
  // 25 ms of propagation and up to 300 ms of queue.
  EXPECT_GT(flow.observer.max_delay, 315 * kMs);
  EXPECT_LE(flow.observer.max_delay, 325 * kMs);
}

TEST_F(TcpFlowTest, RandomLossHoldsRenoToItsFormula) {
  LinkSpec spec = LinkOf(100'000'000, 50 * kMs);
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.01};
  const OneFlow flow(spec, EndlessTcp(kNewReno, 200 * kSecond));
  RunUntil(200 * kSecond);
  // Mathis et al. (1997): C * segment / (RTT sqrt(p)), C = 0.87 with delayed acknowledgements, 1.22 without.
  const double unit_mbps = 1448 * 8e-6 / (0.1 * std::sqrt(0.01));
  EXPECT_GT(Mbps(flow.observer.bytes_delivered, 200), 0.65 * unit_mbps);
  EXPECT_LT(Mbps(flow.observer.bytes_delivered, 200), 1.22 * unit_mbps);
}

TEST_F(TcpFlowTest, FollowsACapacityStepAndSurvivesAnOutage) {
  LinkSpec spec = UsualLink();
  spec.capacity =
      CapacityTrace({kTimeZero, 20 * kSecond, 40 * kSecond, 60 * kSecond}, {8'000'000, 2'000'000, 0, 4'000'000});
  const OneFlow flow(spec, EndlessTcp(kCubic, 100 * kSecond));
  const auto received_by = [&flow](SimTime time) {
    RunUntil(time);
    return flow.observer.bytes_received;
  };
  const int64_t before_bytes = received_by(25 * kSecond);
  const int64_t step_bytes = received_by(40 * kSecond) - before_bytes;
  EXPECT_GT(Mbps(step_bytes, 15), 1.8);
  EXPECT_LT(Mbps(step_bytes, 15), 2.01);
  const int64_t outage_bytes = received_by(41 * kSecond);
  EXPECT_EQ(received_by(60 * kSecond), outage_bytes);
  const int64_t late_bytes = received_by(80 * kSecond);
  const int64_t end_bytes = received_by(100 * kSecond);
  EXPECT_GT(Mbps(end_bytes - late_bytes, 20), 3.6);
  EXPECT_LT(Mbps(end_bytes - late_bytes, 20), 4.01);
}

TEST_F(TcpFlowTest, TwoShareALink) {
  struct Case {
    TcpCongestionControl congestion_control;
    int64_t rate_bps, later_s, duration_s;
    double least_use, least_jain;
  };
  for (const Case& c : {Case{kCubic, 6'000'000, 3, 120, 0.95, 0.8}, Case{kCopa, 10'000'000, 5, 60, 0.95, 0.935}}) {
    OneFlow first(LinkOf(c.rate_bps), EndlessTcp(c.congestion_control, c.duration_s * kSecond), 20 * kSecond);
    CountingObserver second;
    second.count_from = 20 * kSecond;
    const auto later = EndlessTcp(c.congestion_control, c.duration_s * kSecond, c.later_s * kSecond);
    const auto started = StartFlow(later, &first.data, &first.acknowledgements, &second, 1);
    RunUntil(c.duration_s * kSecond);
    const double a_mbps = first.late_mbps(c.duration_s * kSecond);
    const double b_mbps = Mbps(second.bytes_received_late, static_cast<double>(c.duration_s - 20));
    const double use = (a_mbps + b_mbps) * 1e6 / static_cast<double>(c.rate_bps);
    EXPECT_GT(use, c.least_use) << ToString(c.congestion_control);
    EXPECT_LE(use, 1.002) << ToString(c.congestion_control);
    const double jain = (a_mbps + b_mbps) * (a_mbps + b_mbps) / (2 * (a_mbps * a_mbps + b_mbps * b_mbps));
    EXPECT_GT(jain, c.least_jain) << a_mbps << " and " << b_mbps;
  }
}

TEST_F(TcpFlowTest, DelaysAndPacketsAreThoseOfThePath) {
  FlowSpec spec = EndlessTcp(kCubic, 4 * kSecond, kSecond);
  spec.extra_one_way_delay = 40 * kMs;
  OneFlow flow(LinkOf(10'000'000), spec);
  const CountingObserver& observer = flow.observer;
  // The handshake's SYN, then nothing for a round trip of 130 ms.
  RunUntil(1125 * kMs);
  EXPECT_EQ(observer.packets_sent, 1);
  EXPECT_EQ(observer.first_sent, kSecond);
  const SimDuration syn_serialisation = SimDuration::Nanos(observer.bytes_received * 800);
  EXPECT_EQ(observer.min_delay, 65 * kMs + syn_serialisation);
  RunUntil(1131 * kMs + syn_serialisation);
  // The acknowledgement of the handshake, and an initial window of ten full packets.
  EXPECT_EQ(observer.packets_sent, 12);
  RunUntil(5 * kSecond);
  EXPECT_LE(observer.last_sent, 4 * kSecond);
  EXPECT_GT(observer.last_sent, 3900 * kMs);
  // One acknowledgement for two packets, and a few more.
  EXPECT_GT(flow.acknowledgements.counters().packets_sent, observer.packets_received * 45 / 100);
  EXPECT_LT(flow.acknowledgements.counters().packets_sent, observer.packets_received);
  EXPECT_EQ(flow.data.counters().packets_sent, observer.packets_sent);
}

TEST_F(TcpFlowTest, ShortTransfers) {
  for (const bool start_on : {true, false}) {
    const TcpTransfers transfers{30'000, 50'000, 1.0, start_on};
    const OneFlow flow(LinkOf(2'000'000), ShortTransfers(kNewReno, transfers, 400 * kSecond));
    RunUntil(400 * kSecond);
    EXPECT_EQ(flow.observer.first_sent == kTimeZero, start_on);
    EXPECT_LT(flow.observer.first_sent, 10 * kSecond);
    // A handshake and three round trips of the window, 0.16 s of serialisation, 1 s idle: some 1.35 s each, the idle
    // time with a deviation of 1 s. Each is a connection.
    const int64_t connections = flow.observer.packets_like_first;
    EXPECT_GT(connections, 240);
    EXPECT_LT(connections, 360);
    const double mean_bytes = static_cast<double>(flow.observer.bytes_delivered) / static_cast<double>(connections);
    EXPECT_NEAR(mean_bytes, 40'000, 5 * 5774 / std::sqrt(240.0));
  }
}

TEST_F(TcpFlowTest, ConnectsInSpiteOfHeavyLoss) {
  LinkSpec spec = LinkOf(2'000'000);
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.3};
  const OneFlow flow(spec, spec, ShortTransfers(kCubic, {3'000, 5'000, 0.5, true}, 120 * kSecond));
  RunUntil(120 * kSecond);
  EXPECT_GE(flow.observer.bytes_delivered, 5 * 4'000);
  EXPECT_LE(flow.observer.bytes_delivered, 200 * 4'000);
}

TEST_F(TcpFlowTest, AFlowMayDieBeforeOrAfterTheSimulation) {
  for (const bool before : {true, false}) {
    OneFlow flow(LinkOf(4'000'000), EndlessTcp(kCubic, 2 * kSecond));
    RunUntil(2 * kSecond);
    EXPECT_GT(flow.observer.bytes_delivered, 100'000);
    if (before) flow.started.reset();
    ns3::Simulator::Destroy();
    flow.started.reset();
  }
}

TEST_F(TcpFlowTest, CopaSettlesOnAFullLinkWithAShortQueue) {
  for (const int64_t rate_bps : {2'000'000, 10'000'000, 40'000'000}) {
    OneFlow flow(LinkOf(rate_bps), EndlessTcp(kCopa, 30 * kSecond), 15 * kSecond);
    SimDuration sum = SimDuration::Zero(), most = SimDuration::Zero();
    constexpr int kSamples = 300;
    for (int i = 0; i < kSamples; ++i) {
      RunUntil(15 * kSecond + i * 50 * kMs);
      sum += flow.data.QueueingDelay();
      most = std::max(most, flow.data.QueueingDelay());
    }
    RunUntil(30 * kSecond);
    const double packet_ns = 1500 * 8e9 / static_cast<double>(rate_bps);
    // 1 / delta = 2 packets on average in equilibrium (section 2.1), and 2.5 / delta at most; here with
    // acknowledgements for two packets each.
    const double mean_packets = static_cast<double>(sum.ns()) / kSamples / packet_ns;
    EXPECT_GT(mean_packets, 0.3) << rate_bps;
    EXPECT_LT(mean_packets, 6) << rate_bps;
    EXPECT_LT(static_cast<double>(most.ns()) / packet_ns, 14) << rate_bps;
    const double utilisation = flow.late_mbps(30 * kSecond) * 1e6 / static_cast<double>(rate_bps);
    EXPECT_GT(utilisation, 0.93) << rate_bps;
    EXPECT_LE(utilisation, 1.001) << rate_bps;
  }
}

TEST_F(TcpFlowTest, CopaFollowsALinkThatIsHalvedWithinSeconds) {
  LinkSpec spec = LinkOf(20'000'000, 50 * kMs);
  spec.capacity = CapacityTrace({kTimeZero, 10 * kSecond}, {20'000'000, 10'000'000});
  OneFlow flow(spec, EndlessTcp(kCopa, 20 * kSecond), 14 * kSecond);
  RunUntil(11 * kSecond);
  EXPECT_GT(flow.data.QueueingDelay(), 20 * kMs);
  // It oscillates on its way: a velocity that has doubled for some round trips goes on for one more.
  double sum_ms = 0;
  constexpr int kSamples = 60;
  for (int i = 0; i < kSamples; ++i) {
    RunUntil(14 * kSecond + i * 100 * kMs);
    sum_ms += static_cast<double>(flow.data.QueueingDelay().ns()) / 1e6;
    EXPECT_LT(flow.data.QueueingDelay(), 60 * kMs) << i;
  }
  EXPECT_LT(sum_ms / kSamples, 20);
  RunUntil(20 * kSecond);
  EXPECT_GT(flow.late_mbps(20 * kSecond), 8.3);
  EXPECT_LT(flow.late_mbps(20 * kSecond), 10.01);
}

}  // namespace
}  // namespace weir::sim
