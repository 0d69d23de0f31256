// Copa alone on a link: it fills it with a queue of a few packets, follows it down, and shares it.
#include "core/random.h"
#include "flows/tcp_flow.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

FlowSpec CopaFlow(int64_t stop_ns) {
  FlowSpec flow;
  flow.stop_ns = stop_ns;
  flow.kind = TcpSpec{TcpCongestionControl::kCopa, std::nullopt};
  return flow;
}

class TcpCopaTest : public SimulationTest {};

TEST_F(TcpCopaTest, SettlesOnAFullLinkWithAShortQueue) {
  for (const int64_t rate_bps : {2'000'000, 10'000'000, 40'000'000}) {
    const int64_t duration_ns = 30 * kSecond;
    Link data(LinkOf(rate_bps), duration_ns, 1, 0);
    Link acknowledgements(UsualLink(), duration_ns, 1, 8);
    CountingObserver observer;
    observer.count_from_ns = 15 * kSecond;
    const TcpFlow flow(CopaFlow(duration_ns), &data, &acknowledgements, &observer, 1, 1024);
    int64_t sum_ns = 0, most_ns = 0;
    constexpr int kSamples = 300;
    for (int i = 0; i < kSamples; ++i) {
      RunUntil(15 * kSecond + i * 50 * kMs);
      sum_ns += data.QueueingDelayNs();
      most_ns = std::max(most_ns, data.QueueingDelayNs());
    }
    RunUntil(duration_ns);
    const double packet_ns = 1500 * 8e9 / static_cast<double>(rate_bps);
    // 1 / delta = 2 packets on average in equilibrium (section 2.1), and 2.5 / delta at most; here with
    // acknowledgements for two packets each.
    const double mean_packets = static_cast<double>(sum_ns) / kSamples / packet_ns;
    EXPECT_GT(mean_packets, 0.3) << rate_bps;
    EXPECT_LT(mean_packets, 6) << rate_bps;
    EXPECT_LT(static_cast<double>(most_ns) / packet_ns, 14) << rate_bps;
    const double utilisation =
        static_cast<double>(observer.bytes_received_late) * 8 / 15 / static_cast<double>(rate_bps);
    EXPECT_GT(utilisation, 0.93) << rate_bps;
    EXPECT_LE(utilisation, 1.001) << rate_bps;
    ns3::Simulator::Destroy();
    UseEventEngine();
  }
}

TEST_F(TcpCopaTest, FollowsALinkThatIsHalvedWithinSeconds) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({0, 10 * kSecond}, {20'000'000, 10'000'000});
  spec.one_way_delay_ns = 50 * kMs;
  LinkSpec back = UsualLink();
  back.one_way_delay_ns = 50 * kMs;
  const int64_t duration_ns = 20 * kSecond;
  Link data(spec, duration_ns, 1, 0);
  Link acknowledgements(back, duration_ns, 1, 8);
  CountingObserver observer;
  observer.count_from_ns = 14 * kSecond;
  const TcpFlow flow(CopaFlow(duration_ns), &data, &acknowledgements, &observer, 1, 1024);
  RunUntil(11 * kSecond);
  EXPECT_GT(data.QueueingDelayNs(), 20 * kMs);
  // It oscillates on its way: a velocity that has doubled for some round trips goes on for one more.
  RunUntil(14 * kSecond);
  double sum_ms = 0;
  constexpr int kSamples = 60;
  for (int i = 0; i < kSamples; ++i) {
    RunUntil(14 * kSecond + i * 100 * kMs);
    sum_ms += static_cast<double>(data.QueueingDelayNs()) / kMs;
    EXPECT_LT(data.QueueingDelayNs(), 60 * kMs) << i;
  }
  EXPECT_LT(sum_ms / kSamples, 20);
  RunUntil(duration_ns);
  EXPECT_GT(observer.bytes_received_late * 8 / 6, 8'300'000);
  EXPECT_LT(observer.bytes_received_late * 8 / 6, 10'010'000);
}

TEST_F(TcpCopaTest, TwoShareALink) {
  const int64_t duration_ns = 60 * kSecond;
  Link data(LinkOf(10'000'000), duration_ns, 1, 0);
  Link acknowledgements(UsualLink(), duration_ns, 1, 8);
  CountingObserver a, b;
  a.count_from_ns = b.count_from_ns = 20 * kSecond;
  FlowSpec later = CopaFlow(duration_ns);
  later.start_ns = 5 * kSecond;
  const TcpFlow first(CopaFlow(duration_ns), &data, &acknowledgements, &a, 1, 1024);
  const TcpFlow second(later, &data, &acknowledgements, &b, 1, 1040);
  RunUntil(duration_ns);
  const auto a_bytes = static_cast<double>(a.bytes_received_late);
  const auto b_bytes = static_cast<double>(b.bytes_received_late);
  EXPECT_GT((a_bytes + b_bytes) * 8 / 40, 9.5e6);
  EXPECT_GT(a_bytes / b_bytes, 0.6);
  EXPECT_LT(a_bytes / b_bytes, 1.7);
}

}  // namespace
}  // namespace weir::sim
