// An external controller in real time: no caller waits for it, its latest answer counts, and failures are reported.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "program/external_controller.h"

namespace weir::external {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kStart[] = "read a; echo '{\"version\":1,\"interval_us\":5000}'; ";
constexpr TargetRateConstraints kConstraints{.min_rate = DataRate::KilobitsPerSecond(100),
                                             .start_rate = DataRate::KilobitsPerSecond(300),
                                             .max_rate = DataRate::KilobitsPerSecond(1000)};

Timestamp Now() {
  return Timestamp::Micros(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count());
}

class ConcurrentControllerTest : public ::testing::Test {
 protected:
  // A controller that is this script of sh.
  void Make(const std::string& script, TimeDelta limit = TimeDelta::Seconds(1)) {
    ExternalSpecification specification;
    specification.name = "mine";
    specification.command = {"/bin/sh", "-c", script};
    specification.decision_limit = limit;
    controller_ = std::make_unique<ConcurrentController>(specification, std::make_shared<ExternalControllers>(false),
                                                         [this](const std::string& what) {
                                                           const std::lock_guard lock(mutex_);
                                                           told_.push_back(what);
                                                         });
    TargetRateConstraints constraints = kConstraints;
    constraints.at_time = Now();
    controller_->OnTargetRateConstraints(constraints);
  }

  // The target of the next decision; nothing when it gives none. Measures how long the calls take.
  std::optional<DataRate> Next() {
    while (Now() < controller_->next_timeout()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto before = Clock::now();
    const ReceiverControlUpdate update = controller_->OnTimeout(Now());
    longest_ = std::max(longest_, Clock::now() - before);
    return update.target_rate;
  }

  std::vector<std::string> Told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  Clock::duration longest_{};
  std::mutex mutex_;
  std::vector<std::string> told_;
  // Last: when it goes, it may have something to tell.
  std::unique_ptr<ConcurrentController> controller_;
};

TEST_F(ConcurrentControllerTest, ItsAnswerIsTheTargetWithinTheBounds) {
  Make(std::string(kStart) + "while read a; do echo '{\"target_bps\":5e6}'; done");
  EXPECT_EQ(Next(), kConstraints.start_rate);
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (Next() != kConstraints.max_rate) ASSERT_LT(Clock::now(), deadline);
  EXPECT_TRUE(Told().empty());
}

TEST_F(ConcurrentControllerTest, ASlowOneIsNotWaitedForAndItsLatenessIsTold) {
  Make(std::string(kStart) + "while read a; do sleep 1; echo '{\"target_bps\":5e5}'; done", TimeDelta::Seconds(10));
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (Next() != DataRate::KilobitsPerSecond(500)) ASSERT_LT(Clock::now(), deadline);
  EXPECT_LT(longest_, std::chrono::milliseconds(700));
  controller_.reset();
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_NE(Told()[0].find("the controller mine: "), std::string::npos);
  EXPECT_NE(Told()[0].find("decisions were due before the answer"), std::string::npos);
}

TEST_F(ConcurrentControllerTest, ADeadOneGivesNoTargetAndIsToldOfOnce) {
  Make(std::string(kStart) + "read a; echo out of ideas >&2; exit 5");
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (Next()) ASSERT_LT(Clock::now(), deadline);
  EXPECT_FALSE(Next());
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0], "the controller mine: it ended with status 5; on standard error: out of ideas");
}

TEST_F(ConcurrentControllerTest, OneThatNeverAnswersGivesNoTargetAndIsLeftBehind) {
  Make(std::string(kStart) + "sleep 100", TimeDelta::Millis(100));
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (Next()) ASSERT_LT(Clock::now(), deadline);
  EXPECT_EQ(Told().size(), 1u);
  const auto before = Clock::now();
  controller_.reset();
  EXPECT_LT(Clock::now() - before, std::chrono::milliseconds(200));
}

// A program that a thread has started does not end with that thread.
TEST_F(ConcurrentControllerTest, AProgramServesOneAfterAnother) {
  const auto controllers = std::make_shared<ExternalControllers>(false);
  ExternalSpecification specification;
  specification.name = "mine";
  specification.command = {"/bin/sh", "-c",
                           "while read a; do case $a in *start*) echo '{\"version\":1}';; *) echo "
                           "'{\"target_bps\":400000}';; esac; done"};
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      auto maker = controllers->Start(specification, kConstraints, kBalanced, 1);
      ASSERT_TRUE(maker) << maker.error();
      const auto target = maker.value()->Decide({});
      ASSERT_TRUE(target) << target.error();
      EXPECT_EQ(target.value(), DataRate::KilobitsPerSecond(400));
    }).join();
  }
}

}  // namespace
}  // namespace weir::external
