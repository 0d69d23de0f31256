// A custom controller that no caller waits for: its latest answer counts, and failures are reported. The test sets
// the controller's clock, and the controller's thread takes the time that it needs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "programs/custom_controllers.h"
#include "programs/file_descriptor.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kStart[] = "read a; echo '{\"version\":1,\"interval_us\":5000}'; ";
constexpr TimeDelta kInterval = TimeDelta::Millis(5);
// For what another thread does; only a fault lasts as long.
constexpr std::chrono::seconds kHangs(120);
// No decision and no start of these tests takes as long, by either clock.
constexpr TimeDelta kLimit = TimeDelta::Seconds(1'000'000);
constexpr TargetRateConstraints kConstraints{.min_rate = DataRate::KilobitsPerSecond(100),
                                             .start_rate = DataRate::KilobitsPerSecond(300),
                                             .max_rate = DataRate::KilobitsPerSecond(1000)};

class ConcurrentCustomControllerTest : public ::testing::Test {
 protected:
  // A controller that is this script of sh.
  void Make(const std::string& script) {
    CustomControllerSpecification specification;
    specification.name = "mine";
    specification.command = {"/bin/sh", "-c", script};
    specification.decision_limit = kLimit;
    controller_ = std::make_unique<ConcurrentCustomController>(
        specification, std::make_shared<CustomControllers>(false), [this](const std::string& what) {
          const std::lock_guard lock(mutex_);
          told_.push_back(what);
          changed_.notify_all();
        });
    TargetRateConstraints constraints = kConstraints;
    constraints.at_time = now_;
    controller_->OnTargetRateConstraints(constraints);
  }

  // The target of the next decision; nothing when it gives none. Measures how long the calls take.
  std::optional<DataRate> Next() {
    now_ = std::max(now_, controller_->next_timeout());
    const auto before = Clock::now();
    const ReceiverControlUpdate update = controller_->OnTimeout(now_);
    longest_ = std::max(longest_, Clock::now() - before);
    return update.target_rate;
  }

  // Decides until one decision has that target.
  void WaitForTarget(DataRate target) {
    EXPECT_TRUE(WaitUntil([&] { return Next() == target; }));
  }

  // Decides until the controller has started and has its first request: from then on its own interval counts.
  void WaitForFirstRequest() {
    EXPECT_TRUE(WaitUntil([&] {
      Next();
      return controller_->next_timeout() == now_ + kInterval;
    }));
  }

  void WaitForReport() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kHangs, [&] { return !told_.empty(); }));
  }

  std::vector<std::string> Told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  Clock::duration longest_{};
  Timestamp now_ = Timestamp::Seconds(1);

 private:
  // False where the condition stays false, or the controller fails.
  template <typename Condition>
  bool WaitUntil(Condition condition) {
    const auto deadline = Clock::now() + kHangs;
    while (!condition()) {
      // The controller tells of its failures alone: between two looks its thread gets the processor.
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, std::chrono::milliseconds(1), [&] { return !told_.empty(); })) return false;
      if (Clock::now() > deadline) return false;
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;

 protected:
  // Last: when it goes, it may have something to tell.
  std::unique_ptr<ConcurrentCustomController> controller_;
};

TEST_F(ConcurrentCustomControllerTest, ItsAnswerIsTheTargetWithinTheBounds) {
  Make(std::string(kStart) + "while read a; do echo '{\"target_bps\":5e6}'; done");
  EXPECT_EQ(Next(), kConstraints.start_rate);
  WaitForTarget(kConstraints.max_rate);
  EXPECT_TRUE(Told().empty());
}

TEST_F(ConcurrentCustomControllerTest, ASlowOneIsNotWaitedForAndItsLatenessIsTold) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  // The script has the end to read from, and ends with this test.
  ASSERT_EQ(fcntl(write_end.get(), F_SETFD, FD_CLOEXEC), 0);
  Make(std::string(kStart) + "while read a && read go </dev/fd/" + std::to_string(read_end.get()) +
       "; do echo '{\"target_bps\":5e5}'; done");
  WaitForFirstRequest();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Next(), kConstraints.start_rate);
  ASSERT_EQ(write(write_end.get(), "\n", 1), 1);
  WaitForTarget(DataRate::KilobitsPerSecond(500));
  EXPECT_LT(longest_, std::chrono::milliseconds(700));
  controller_.reset();
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_NE(Told()[0].find("the controller mine: "), std::string::npos);
  EXPECT_NE(Told()[0].find("decisions were due before the answer"), std::string::npos);
}

TEST_F(ConcurrentCustomControllerTest, ADeadOneGivesNoTargetAndIsToldOfOnce) {
  Make(std::string(kStart) + "read a; echo out of ideas >&2; exit 5");
  WaitForFirstRequest();
  WaitForReport();
  EXPECT_FALSE(Next());
  EXPECT_FALSE(Next());
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0], "the controller mine: it ended with status 5; on standard error: out of ideas");
}

TEST_F(ConcurrentCustomControllerTest, OneThatNeverAnswersGivesNoTargetAndIsLeftBehind) {
  Make(std::string(kStart) + "while read a; do :; done");
  WaitForFirstRequest();
  now_ += kLimit;
  EXPECT_EQ(Next(), kConstraints.start_rate);
  EXPECT_FALSE(Next());
  EXPECT_FALSE(Next());
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0], "the controller mine: it has not answered in time");
  const auto before = Clock::now();
  controller_.reset();
  EXPECT_LT(Clock::now() - before, std::chrono::milliseconds(200));
}

// A program that a thread has started does not end with that thread.
TEST_F(ConcurrentCustomControllerTest, AProgramServesOneAfterAnother) {
  const auto controllers = std::make_shared<CustomControllers>(false);
  CustomControllerSpecification specification;
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
}  // namespace weir
