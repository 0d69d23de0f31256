// The end of a program by its command line: statuses, and messages that say what a value must be.
#include "programs/command_line.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "programs/input.h"

namespace weir {
namespace {

struct Outcome {
  int status;
  std::string said;
  uint64_t seed = 1;
  std::string log;
};

Outcome Parsed(std::vector<const char*> arguments) {
  Outcome outcome{};
  CLI::App app("", "program");
  AddInteger(app, "--seed", "", outcome.seed, uint64_t{0});
  int64_t interval_ms = 0;
  AddInteger(app, "--interval-ms", "", interval_ms, int64_t{10}, int64_t{100});
  AddText(app, "--log", "FILE", "", outcome.log);
  AddObjective(app, [](const Objective&) {});
  arguments.insert(arguments.begin(), "program");
  testing::internal::CaptureStderr();
  outcome.status = RunProgram(app, static_cast<int>(arguments.size()), arguments.data(), [] { return kDone; });
  outcome.said = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(CommandLine, ValuesAreTakenAndTheLastCounts) {
  const Outcome outcome = Parsed({"--seed", "5", "--log", "a", "--seed", "18446744073709551615"});
  EXPECT_EQ(outcome.status, kDone) << outcome.said;
  EXPECT_EQ(outcome.seed, UINT64_MAX);
  EXPECT_EQ(outcome.log, "a");
  EXPECT_EQ(Parsed({"--seed", "010"}).seed, 10u);
}

TEST(CommandLine, WrongUseIsNamed) {
  for (const char* value : {"-1", "1.5", "1x", " 1", "0x1", "18446744073709551616", ""}) {
    const Outcome outcome = Parsed({"--seed", value});
    EXPECT_EQ(outcome.status, kWrongUse) << value;
    EXPECT_EQ(outcome.said,
              "program: --seed " + std::string(value) + ": must be a whole number, at least 0; see program --help\n");
  }
  EXPECT_EQ(Parsed({"--interval-ms", "9"}).said,
            "program: --interval-ms 9: must be a whole number, 10 to 100; see program --help\n");
  EXPECT_NE(Parsed({"--objective", "1,2"}).said.find("--objective 1,2: must be balanced, throughput"),
            std::string::npos);
  EXPECT_EQ(Parsed({"--seed"}).said, "program: --seed needs a value\n");
  EXPECT_NE(Parsed({"--colour"}).said.find("--colour; see program --help"), std::string::npos);
  EXPECT_EQ(Parsed({"--colour"}).status, kWrongUse);
}

TEST(CommandLine, WhatIsThrownIsToldAndHasAStatus) {
  const auto status_of = [](auto error) {
    CLI::App app("", "program");
    const char* const arguments[] = {"program"};
    testing::internal::CaptureStderr();
    const int status = RunProgram(app, 1, arguments, [&]() -> int { throw error; });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: why\n");
    return status;
  };
  EXPECT_EQ(status_of(ProgramError("why")), kWrongUse);
  EXPECT_EQ(status_of(ProgramError("why", kMissingComponent)), kMissingComponent);
  EXPECT_EQ(status_of(std::runtime_error("why")), kFailed);
}

}  // namespace
}  // namespace weir
