// CoDel against RFC 8289.
#include "link/link.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr int64_t kDuration = 100 * kSecond;

using CodelTest = SimulationTest;

TEST_F(CodelTest, DropsAtTheTimesOfItsControlLaw) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue = {QueueSpec::Unit::kPackets, 10'000};
  spec.queue_discipline = QueueDiscipline::kCodel;
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // Service takes 10 ms, a packet comes every 8.001 ms. At 90 ms, for the first time, more than one full packet is left
  // behind a packet that has waited for over 5 ms; at 190 ms the interval is over.
  SendEvery(link, sink, 8'001'000, 400, 1250);
  RunUntil(800 * kMs);
  // 100 / sqrt(n) ms from each to the next, each rounded up to the next departure: 190, 290, 360.7, 418.4, 468.4,
  // 513.2, 554.0, 591.8.
  const int64_t expected_ms[] = {190, 290, 370, 420, 470, 520, 560, 600};
  ASSERT_GE(sink.dropped.size(), std::size(expected_ms));
  for (size_t i = 0; i < std::size(expected_ms); ++i) EXPECT_EQ(sink.dropped[i].second, expected_ms[i] * kMs);
}

TEST_F(CodelTest, LeavesAShortQueueAlone) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue_discipline = QueueDiscipline::kCodel;
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // A burst of 10 packets every 200 ms: it has gone before the interval of 100 ms is over.
  for (int burst = 0; burst < 50; ++burst) {
    At(int64_t{burst} * 200 * kMs, [&] {
      for (int i = 0; i < 9; ++i) sink.Send(link, 1250);
    });
  }
  RunUntil(20 * kSecond);
  EXPECT_EQ(sink.dropped.size(), 0u);
  EXPECT_EQ(sink.received.size(), 450u);
}

}  // namespace
}  // namespace weir::sim
