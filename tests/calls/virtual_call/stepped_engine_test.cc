#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/event.h"
#include "core/event_engine.h"
#include "nanoseconds.h"

namespace weir::sim {
namespace {

struct Recorder {
  void OnEvent() { times.push_back(Now()); }
  std::vector<SimTime> times;
};

// The clock of a virtual call uses the engine so.
TEST(EventEngineOfAHost, ExecutesWhatIsDueAndStandsWhereItIsTold) {
  UseEventEngine();
  ns3::Simulator::Now();
  EventEngine* const engine = EventEngine::Current();
  ASSERT_NE(engine, nullptr);
  Recorder recorder;
  MemberEvent<Recorder, &Recorder::OnEvent> event(&recorder);
  event.ScheduleAt(Ns(10));
  event.ScheduleAt(Ns(30));
  EXPECT_EQ(engine->next_time(), Ns(10));
  engine->RunUntil(Ns(20));
  EXPECT_EQ(engine->now(), Ns(20));
  EXPECT_EQ(recorder.times, std::vector<SimTime>{Ns(10)});
  ns3::Simulator::Stop(ns3::TimeStep(5));
  engine->RunUntil(Ns(40));
  EXPECT_EQ(engine->now(), Ns(25)) << "stopped there";
  EXPECT_EQ(recorder.times, std::vector<SimTime>{Ns(10)});
  ns3::Simulator::Destroy();
}

}  // namespace
}  // namespace weir::sim
