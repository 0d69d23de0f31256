// ns-3's TCP over our links: it fills them, reacts to loss, shares, and repeats itself.
#include "flows/tcp_flow.h"

#include <cmath>

#include "core/random.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

using enum TcpCongestionControl;

FlowSpec EndlessTcp(TcpCongestionControl congestion_control, int64_t stop_ns) {
  FlowSpec flow;
  flow.stop_ns = stop_ns;
  flow.kind = TcpSpec{congestion_control, std::nullopt};
  return flow;
}

class TcpFlowTest : public SimulationTest {
 protected:
  static double Mbps(int64_t bytes, double seconds) { return static_cast<double>(bytes) * 8e-6 / seconds; }
};

TEST_F(TcpFlowTest, FillsALink) {
  for (const auto congestion_control : {kCubic, kBbr, kNewReno, kLinuxReno, kVegas}) {
    for (const int64_t rate_bps : {1'000'000, 6'000'000}) {
      const int64_t duration_ns = 30 * kSecond;
      // Vegas leaves slow start early, and then grows by a packet a round trip.
      if (congestion_control == kVegas && rate_bps > 1'000'000) continue;
      Link data(LinkOf(rate_bps), duration_ns, 1, 0);
      Link acknowledgements(UsualLink(), duration_ns, 1, 8);
      CountingObserver observer;
      observer.count_from_ns = 10 * kSecond;
      const TcpFlow flow(EndlessTcp(congestion_control, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
      RunUntil(duration_ns);
      const double utilisation = Mbps(observer.bytes_received_late, 20) * 1e6 / static_cast<double>(rate_bps);
      EXPECT_GT(utilisation, 0.9) << static_cast<int>(congestion_control) << " at " << rate_bps;
      EXPECT_LE(utilisation, 1.001) << static_cast<int>(congestion_control) << " at " << rate_bps;
      // Only headers and what was sent twice are not payload.
      EXPECT_GT(flow.bytes_delivered(), observer.bytes_received * 85 / 100);
      EXPECT_LT(flow.bytes_delivered(), observer.bytes_received * 1448 / 1500 + 1500);
      ns3::Simulator::Destroy();
      UseEventEngine();
    }
  }
}

TEST_F(TcpFlowTest, BbrSurvivesAStartThatOverrunsAShortQueue) {
  LinkSpec spec = LinkOf(20'000'000);
  spec.one_way_delay_ns = 50 * kMs;
  spec.queue = {QueueSpec::Unit::kBytes, 250'000};
  LinkSpec back = UsualLink();
  back.one_way_delay_ns = 50 * kMs;
  const int64_t duration_ns = 20 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  Link acknowledgements(back, duration_ns, 1, 8);
  CountingObserver observer;
  observer.count_from_ns = 2 * kSecond;
  const TcpFlow flow(EndlessTcp(kBbr, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(duration_ns);
  EXPECT_GT(observer.packets_dropped, 100);
  EXPECT_GT(Mbps(observer.bytes_received_late, 18), 17);
  EXPECT_LT(Mbps(observer.bytes_received_late, 18), 20.01);
}

// Ten seconds after its start BBR has four packets in flight for 200 ms. Copa would climb from there for two seconds.
TEST_F(TcpFlowTest, AMeasurementOfThePilotCostsTheOthersNothing) {
  LinkSpec spec = LinkOf(10'000'000);
  spec.one_way_delay_ns = 50 * kMs;
  const int64_t duration_ns = 14 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  LinkSpec back = UsualLink();
  back.one_way_delay_ns = 50 * kMs;
  Link acknowledgements(back, duration_ns, 1, 8);
  CountingObserver observer;
  observer.count_from_ns = 10 * kSecond;
  FlowSpec fused = EndlessTcp(kBbr, duration_ns);
  std::get<TcpSpec>(fused.kind).copilots = {kCopa};
  std::get<TcpSpec>(fused.kind).fusion = Fusion::Kind::kMin;
  const TcpFlow flow(fused, &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(duration_ns);
  EXPECT_GT(Mbps(observer.bytes_received_late, 4), 9);
  EXPECT_LT(Mbps(observer.bytes_received_late, 4), 9.9);
}

TEST_F(TcpFlowTest, CubicFillsTheQueueAndReactsToItsDrops) {
  const int64_t duration_ns = 60 * kSecond;
  Link data(LinkOf(5'000'000), duration_ns, 1, 0);
  Link acknowledgements(UsualLink(), duration_ns, 1, 8);
  CountingObserver observer;
  const TcpFlow flow(EndlessTcp(kCubic, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(duration_ns);
  EXPECT_GT(observer.packets_dropped, 10);
  // A sender that did not back off would lose far more.
  EXPECT_LT(observer.packets_dropped, observer.packets_sent / 20);
  // 25 ms of propagation and up to 300 ms of queue.
  EXPECT_GT(observer.max_delay_ns, 315 * kMs);
  EXPECT_LE(observer.max_delay_ns, 325 * kMs);
}

TEST_F(TcpFlowTest, RandomLossHoldsRenoToItsFormula) {
  LinkSpec spec = LinkOf(100'000'000);
  spec.one_way_delay_ns = 50 * kMs;
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.01};
  LinkSpec back = UsualLink();
  back.one_way_delay_ns = 50 * kMs;
  const int64_t duration_ns = 200 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  Link acknowledgements(back, duration_ns, 1, 8);
  CountingObserver observer;
  const TcpFlow flow(EndlessTcp(kNewReno, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(duration_ns);
  // Mathis et al. (1997): C * segment / (RTT sqrt(p)), C = 0.87 with delayed acknowledgements, 1.22 without.
  const double unit_mbps = 1448 * 8e-6 / (0.1 * std::sqrt(0.01));
  const double goodput_mbps = Mbps(flow.bytes_delivered(), 200);
  EXPECT_GT(goodput_mbps, 0.65 * unit_mbps);
  EXPECT_LT(goodput_mbps, 1.22 * unit_mbps);
}

TEST_F(TcpFlowTest, FollowsACapacityStepAndSurvivesAnOutage) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({0, 20 * kSecond, 40 * kSecond, 60 * kSecond}, {8'000'000, 2'000'000, 0, 4'000'000});
  const int64_t duration_ns = 100 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  Link acknowledgements(UsualLink(), duration_ns, 1, 8);
  CountingObserver observer;
  const TcpFlow flow(EndlessTcp(kCubic, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(25 * kSecond);
  const int64_t before_bytes = observer.bytes_received;
  RunUntil(40 * kSecond);
  EXPECT_GT(Mbps(observer.bytes_received - before_bytes, 15), 1.8);
  EXPECT_LT(Mbps(observer.bytes_received - before_bytes, 15), 2.01);
  RunUntil(41 * kSecond);
  const int64_t outage_bytes = observer.bytes_received;
  RunUntil(60 * kSecond);
  EXPECT_EQ(observer.bytes_received, outage_bytes);
  RunUntil(80 * kSecond);
  const int64_t late_bytes = observer.bytes_received;
  RunUntil(duration_ns);
  EXPECT_GT(Mbps(observer.bytes_received - late_bytes, 20), 3.6);
  EXPECT_LT(Mbps(observer.bytes_received - late_bytes, 20), 4.01);
}

TEST_F(TcpFlowTest, TwoShareALink) {
  const int64_t duration_ns = 120 * kSecond;
  Link data(LinkOf(6'000'000), duration_ns, 1, 0);
  Link acknowledgements(UsualLink(), duration_ns, 1, 8);
  CountingObserver a, b;
  a.count_from_ns = b.count_from_ns = 20 * kSecond;
  FlowSpec later = EndlessTcp(kCubic, duration_ns);
  later.start_ns = 3 * kSecond;
  const TcpFlow first(EndlessTcp(kCubic, duration_ns), &data, &acknowledgements, &a, 1, 1024);
  const TcpFlow second(later, &data, &acknowledgements, &b, 1, 1040);
  RunUntil(duration_ns);
  const double a_mbps = Mbps(a.bytes_received_late, 100);
  const double b_mbps = Mbps(b.bytes_received_late, 100);
  EXPECT_GT(a_mbps + b_mbps, 5.7);
  EXPECT_LE(a_mbps + b_mbps, 6.01);
  const double jain = (a_mbps + b_mbps) * (a_mbps + b_mbps) / (2 * (a_mbps * a_mbps + b_mbps * b_mbps));
  EXPECT_GT(jain, 0.8) << a_mbps << " and " << b_mbps;
  EXPECT_LE(jain, 1.0);
}

TEST_F(TcpFlowTest, DelaysAndPacketsAreThoseOfThePath) {
  const int64_t duration_ns = 5 * kSecond;
  Link data(LinkOf(10'000'000), duration_ns, 1, 0);
  Link acknowledgements(UsualLink(), duration_ns, 1, 8);
  CountingObserver observer;
  FlowSpec flow = EndlessTcp(kCubic, 4 * kSecond);
  flow.start_ns = kSecond;
  flow.extra_one_way_delay_ns = 40 * kMs;
  const TcpFlow tcp(flow, &data, &acknowledgements, &observer, 1, 1024);
  // The handshake's SYN, then nothing for a round trip of 130 ms.
  RunUntil(1125 * kMs);
  EXPECT_EQ(observer.packets_sent, 1);
  EXPECT_EQ(observer.first_sent_ns, kSecond);
  const int64_t syn_serialisation_ns = observer.bytes_received * 800;
  EXPECT_EQ(observer.min_delay_ns, 65 * kMs + syn_serialisation_ns);
  RunUntil(1131 * kMs + syn_serialisation_ns);
  // The acknowledgement of the handshake, and an initial window of ten full packets.
  EXPECT_EQ(observer.packets_sent, 12);
  RunUntil(duration_ns);
  EXPECT_LE(observer.last_sent_ns, 4 * kSecond);
  EXPECT_GT(observer.last_sent_ns, 3900 * kMs);
  // One acknowledgement for two packets, and a few more.
  EXPECT_GT(acknowledgements.counters().packets_sent, observer.packets_received * 45 / 100);
  EXPECT_LT(acknowledgements.counters().packets_sent, observer.packets_received);
  EXPECT_EQ(data.counters().packets_sent, observer.packets_sent);
}

TEST_F(TcpFlowTest, ShortTransfers) {
  for (const bool start_on : {true, false}) {
    const int64_t duration_ns = 400 * kSecond;
    Link data(LinkOf(2'000'000), duration_ns, 1, 0);
    Link acknowledgements(UsualLink(), duration_ns, 1, 8);
    CountingObserver observer;
    FlowSpec flow = EndlessTcp(kNewReno, duration_ns);
    flow.kind = TcpSpec{kNewReno, TcpTransfers{30'000, 50'000, 1.0, start_on}};
    const TcpFlow tcp(flow, &data, &acknowledgements, &observer, 1, 1024);
    RunUntil(duration_ns);
    if (start_on) {
      EXPECT_EQ(observer.first_sent_ns, 0);
    } else {
      EXPECT_GT(observer.first_sent_ns, 0);
      EXPECT_LT(observer.first_sent_ns, 10 * kSecond);
    }
    // A handshake and three round trips of the window, 0.16 s of serialisation, 1 s idle: some 1.35 s each, the idle
    // time with a deviation of 1 s.
    EXPECT_GT(tcp.transfers_completed(), 240);
    EXPECT_LT(tcp.transfers_completed(), 360);
    const double mean_bytes =
        static_cast<double>(tcp.bytes_delivered()) / static_cast<double>(tcp.transfers_completed());
    EXPECT_NEAR(mean_bytes, 40'000, 5 * 5774 / std::sqrt(240.0));
    ns3::Simulator::Destroy();
    UseEventEngine();
  }
}

TEST_F(TcpFlowTest, ConnectsInSpiteOfHeavyLoss) {
  LinkSpec spec = LinkOf(2'000'000);
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.3};
  const int64_t duration_ns = 120 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  Link acknowledgements(spec, duration_ns, 1, 8);
  FlowSpec flow = EndlessTcp(kCubic, duration_ns);
  flow.kind = TcpSpec{kCubic, TcpTransfers{3'000, 5'000, 0.5, true}};
  const TcpFlow tcp(flow, &data, &acknowledgements, nullptr, 1, 1024);
  RunUntil(duration_ns);
  EXPECT_GE(tcp.transfers_completed(), 5);
  EXPECT_LE(tcp.transfers_completed(), 200);
}

TEST_F(TcpFlowTest, RepeatsItselfWhateverRanBefore) {
  const auto run = [](TcpCongestionControl congestion_control, bool short_transfers, uint64_t seed) {
    UseEventEngine();
    const int64_t duration_ns = 30 * kSecond;
    LinkSpec spec = LinkOf(4'000'000);
    spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.002};
    Link data(spec, duration_ns, seed, 0);
    Link acknowledgements(UsualLink(), duration_ns, seed, 8);
    CountingObserver observer;
    FlowSpec flow = EndlessTcp(congestion_control, duration_ns);
    if (short_transfers) flow.kind = TcpSpec{congestion_control, TcpTransfers{30'000, 50'000, 0.5, true}};
    const TcpFlow tcp(flow, &data, &acknowledgements, &observer, seed, 1024);
    RunUntil(duration_ns);
    ns3::Simulator::Destroy();
    EXPECT_GT(observer.packets_sent, 500);
    return observer.fingerprint;
  };
  const uint64_t bbr = run(kBbr, false, 1);
  const uint64_t cubic = run(kCubic, true, 1);
  run(kNewReno, false, 5);
  EXPECT_NE(run(kBbr, false, 2), bbr);
  EXPECT_NE(run(kCubic, true, 2), cubic);
  EXPECT_EQ(run(kBbr, false, 1), bbr);
  EXPECT_EQ(run(kCubic, true, 1), cubic);
}

TEST_F(TcpFlowTest, AFlowMayDieBeforeOrAfterTheSimulation) {
  const int64_t duration_ns = 2 * kSecond;
  for (const bool before : {true, false}) {
    Link data(LinkOf(4'000'000), duration_ns, 1, 0);
    Link acknowledgements(UsualLink(), duration_ns, 1, 8);
    CountingObserver observer;
    auto tcp = std::make_unique<TcpFlow>(EndlessTcp(kCubic, duration_ns), &data, &acknowledgements, &observer, 1, 1024);
    RunUntil(duration_ns);
    EXPECT_GT(tcp->bytes_delivered(), 100'000);
    if (before) tcp.reset();
    ns3::Simulator::Destroy();
    tcp.reset();
    UseEventEngine();
  }
}

}  // namespace
}  // namespace weir::sim
