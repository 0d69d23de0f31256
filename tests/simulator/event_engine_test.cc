// The engine in ns-3's place: what ns-3 promises of a simulator, in the order of its own.
#include "core/event_engine.h"

#include <gtest/gtest.h>
#include <ns3/simulator.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/step_limit.h"
#include "programs/input.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

class EventEngineTest : public SimulationTest {
 protected:
  ns3::EventId Note(int64_t delay_ns, int what) {
    return ns3::Simulator::Schedule(ns3::TimeStep(static_cast<uint64_t>(delay_ns)),
                                    [this, what] { noted_.emplace_back(Now().ns(), what); });
  }

  std::vector<std::pair<int64_t, int>> noted_;
};

TEST_F(EventEngineTest, IsWhatNs3RunsOn) {
  ASSERT_NE(EventEngine::Current(), nullptr);
  Note(5, 1);
  ns3::Simulator::Run();
  EXPECT_EQ(ns3::Simulator::Now().GetNanoSeconds(), 5);
  EXPECT_EQ(Now().ns(), 5);
  EXPECT_TRUE(ns3::Simulator::IsFinished());
  ns3::Simulator::Destroy();
  EXPECT_EQ(EventEngine::Current(), nullptr);
}

TEST_F(EventEngineTest, EventsComeByTimeAndOfOneTimeAsTheyWereScheduled) {
  std::mt19937 random(1);
  std::vector<std::tuple<int64_t, int>> expected;
  for (int i = 0; i < 1000; ++i) {
    const auto time = static_cast<int64_t>(random() % 50);
    expected.emplace_back(time, i);
    Note(time, i);
  }
  std::ranges::sort(expected);
  ns3::Simulator::Run();
  ASSERT_EQ(noted_.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(noted_[i], (std::pair{std::get<0>(expected[i]), std::get<1>(expected[i])}));
  }
}

TEST_F(EventEngineTest, AnEventMayScheduleAnotherForNowThatComesLast) {
  At(Ns(3), [this] {
    ns3::Simulator::ScheduleNow([this] { noted_.emplace_back(Now().ns(), 2); });
    noted_.emplace_back(Now().ns(), 0);
  });
  Note(3, 1);
  ns3::Simulator::Run();
  EXPECT_EQ(noted_, (std::vector<std::pair<int64_t, int>>{{3, 0}, {3, 1}, {3, 2}}));
}

TEST_F(EventEngineTest, StopsAtATimeBeforeWhatIsScheduledLaterForIt) {
  Note(10, 0);
  ns3::Simulator::Stop(ns3::TimeStep(10));
  Note(10, 1);
  ns3::Simulator::Run();
  EXPECT_EQ(noted_, (std::vector<std::pair<int64_t, int>>{{10, 0}}));
  ns3::Simulator::Run();
  EXPECT_EQ(noted_.back(), (std::pair<int64_t, int>{10, 1}));
}

TEST_F(EventEngineTest, CancelledAndRemovedEventsDoNotCome) {
  const ns3::EventId cancelled = Note(1, 1);
  const ns3::EventId removed = Note(2, 2);
  const ns3::EventId kept = Note(3, 3);
  EXPECT_EQ(ns3::Simulator::GetDelayLeft(kept).GetNanoSeconds(), 3);
  ns3::Simulator::Cancel(cancelled);
  ns3::Simulator::Remove(removed);
  EXPECT_TRUE(cancelled.IsExpired());
  EXPECT_TRUE(removed.IsExpired());
  EXPECT_FALSE(kept.IsExpired());
  ns3::Simulator::Run();
  EXPECT_EQ(noted_, (std::vector<std::pair<int64_t, int>>{{3, 3}}));
  EXPECT_TRUE(kept.IsExpired());
  EXPECT_EQ(ns3::Simulator::GetDelayLeft(kept).GetNanoSeconds(), 0);
}

TEST_F(EventEngineTest, WhatIsScheduledForTheEndComesAtTheEndUnlessRemoved) {
  int ended = 0;
  ns3::Simulator::ScheduleDestroy([&ended] { ended += 1; });
  const ns3::EventId removed = ns3::Simulator::ScheduleDestroy([&ended] { ended += 10; });
  EXPECT_FALSE(removed.IsExpired());
  ns3::Simulator::Remove(removed);
  ns3::Simulator::Run();
  EXPECT_EQ(ended, 0);
  ns3::Simulator::Destroy();
  EXPECT_EQ(ended, 1);
}

TEST_F(EventEngineTest, WhatIsLeftGoesWithTheSimulationAndTheNextBeginsAnew) {
  const auto marked = std::make_shared<int>(1);
  At(kSecond, [marked] {});
  RunUntil(kMs);
  EXPECT_EQ(marked.use_count(), 2);
  UseEventEngine();
  EXPECT_EQ(marked.use_count(), 1);
  EXPECT_EQ(Now().ns(), 0);
}

// As TCP does over a path without delay and capacity.
TEST_F(EventEngineTest, TimeThatStandsStillIsAnError) {
  std::function<void()> again = [&again] { ns3::Simulator::ScheduleNow(again); };
  At(kSecond, again);
  try {
    ns3::Simulator::Run();
    ADD_FAILURE();
  } catch (const ProgramError& error) {
    EXPECT_EQ(std::string(error.what()),
              "after 1000 ms of simulated time it stands still; give the path a delay or a capacity");
  }
}

TEST_F(EventEngineTest, ARunHasALimit) {
  SpendSteps(kMaxSteps - 1);
  Note(1, 1);
  ns3::Simulator::Run();
  EXPECT_EQ(noted_.size(), 1U);
  Note(1, 2);
  EXPECT_THROW(ns3::Simulator::Run(), ProgramError);
  EXPECT_THROW(SpendSteps(1), ProgramError);
}

// The simulator's own events and timers, with ns-3's in between.
TEST_F(EventEngineTest, MembersTimersAndNs3ShareOneOrder) {
  struct Owner {
    explicit Owner(std::vector<std::pair<int64_t, int>>& noted) : noted(noted), event(this), timer(this) {}
    void OnEvent() { noted.emplace_back(Now().ns(), 1); }
    void OnTimer() { noted.emplace_back(Now().ns(), 3); }
    std::vector<std::pair<int64_t, int>>& noted;
    MemberEvent<Owner, &Owner::OnEvent> event;
    Timer<Owner, &Owner::OnTimer> timer;
  } owner(noted_);
  owner.event.ScheduleAt(Ns(4));
  Note(4, 2);
  owner.timer.Set(Ns(4));
  owner.event.ScheduleAt(Ns(2));
  ns3::Simulator::Run();
  EXPECT_EQ(noted_, (std::vector<std::pair<int64_t, int>>{{2, 1}, {4, 1}, {4, 2}, {4, 3}}));
}

}  // namespace
}  // namespace weir::sim
