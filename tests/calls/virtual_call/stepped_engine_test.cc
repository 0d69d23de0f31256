#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/event.h"
#include "core/event_engine.h"

namespace weir::sim {
namespace {

struct Recorder {
  void OnEvent() { times_ns.push_back(NowNs()); }
  std::vector<int64_t> times_ns;
};

// The clock of a virtual call uses the engine so.
TEST(EventEngineOfAHost, ExecutesWhatIsDueAndStandsWhereItIsTold) {
  UseEventEngine();
  ns3::Simulator::Now();
  EventEngine* const engine = EventEngine::Current();
  ASSERT_NE(engine, nullptr);
  Recorder recorder;
  MemberEvent<Recorder, &Recorder::OnEvent> event(&recorder);
  event.ScheduleAt(10);
  event.ScheduleAt(30);
  EXPECT_EQ(engine->next_time_ns(), 10);
  engine->RunUntil(20);
  EXPECT_EQ(engine->now_ns(), 20);
  EXPECT_EQ(recorder.times_ns, std::vector<int64_t>{10});
  ns3::Simulator::Stop(ns3::TimeStep(5));
  engine->RunUntil(40);
  EXPECT_EQ(engine->now_ns(), 25) << "stopped there";
  EXPECT_EQ(recorder.times_ns, std::vector<int64_t>{10});
  ns3::Simulator::Destroy();
}

}  // namespace
}  // namespace weir::sim
