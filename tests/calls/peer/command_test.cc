#include "command.h"

#include <gtest/gtest.h>

#include <string>

#include "programs/sender_gcc.h"

namespace weir::peer {
namespace {

template <class T>
T Parsed(const char* line) {
  const auto command = ParseCommand(line);
  EXPECT_TRUE(command.ok()) << line;
  return std::get<T>(command.value());
}

TEST(Command, EveryKindIsRead) {
  Parsed<StartCommand>(R"({"type":"start"})");
  Parsed<StatsCommand>(R"({"type":"stats"})");
  Parsed<StopCommand>(R"({"type":"stop"})");
  EXPECT_TRUE(Parsed<DescriptionCommand>(R"({"type":"offer","sdp":"v=0"})").is_offer);
  EXPECT_FALSE(Parsed<DescriptionCommand>(R"({"type":"answer","sdp":"v=0"})").is_offer);
  EXPECT_EQ(Parsed<ControllerCommand>(R"({"type":"controller","name":"shadow"})").mode, ReceiveSideMode::kShadow);
  const auto objective = Parsed<ObjectiveCommand>(R"({"type":"objective","throughput":1,"latency":2,"loss":1})");
  EXPECT_FLOAT_EQ(objective.objective.latency, 0.5f);
}

TEST(Command, CandidatesMayBeIncompleteAsBrowsersSendThem) {
  const auto candidate =
      Parsed<CandidateCommand>(R"({"type":"candidate","candidate":"c","sdpMid":null,"sdpMLineIndex":1,"extra":{}})");
  EXPECT_EQ(candidate.candidate, "c");
  EXPECT_EQ(candidate.sdp_mid, "");
  EXPECT_EQ(candidate.sdp_mline_index, 1);
  EXPECT_EQ(Parsed<CandidateCommand>(R"({"type":"candidate","candidate":null})").candidate, "");
}

TEST(Command, APoolIsItsLine) {
  EXPECT_EQ(Parsed<PoolCommand>(R"({"type":"pool","line":"pilot=weir copilots=nada fusion=min"})").pool,
            (PoolSpecification{.pilot = "weir", .copilots = {"nada"}, .fusion = FusionKind::kMin}));
  const auto wrong = ParseCommand(R"({"type":"pool","line":"pilot=weir fusion=sum"})");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().find("character 19"), std::string::npos);
  EXPECT_FALSE(ParseCommand(R"({"type":"pool"})").ok());
}

TEST(Command, AModelIsAFileForAMember) {
  const auto alone = Parsed<ModelCommand>(R"({"type":"model","path":"m.onnx"})");
  EXPECT_EQ(alone.path, "m.onnx");
  EXPECT_EQ(alone.member, "weir");
  EXPECT_EQ(Parsed<ModelCommand>(R"({"type":"model","path":"m","member":"weir:a"})").member, "weir:a");
  for (const char* line :
       {R"({"type":"model"})", R"({"type":"model","path":7})", R"({"type":"model","path":"m","member":"nada"})"}) {
    EXPECT_FALSE(ParseCommand(line).ok()) << line;
  }
}

TEST(Command, TheSendersGccIsACopilotUnderMinOnly) {
  const auto split = [](const char* line) { return SplitPool(ParsePool(line).value()); };
  const auto whole = split("pilot=weir copilots=nada,gcc,rule fusion=min");
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole.value().sender_has_gcc);
  EXPECT_EQ(ToString(whole.value().at_receiver), "pilot=weir copilots=nada,rule fusion=min");
  EXPECT_FALSE(split("pilot=weir copilots=nada fusion=max policy=by_trust").value().sender_has_gcc);
  for (const char* line : {"pilot=gcc", "pilot=weir copilots=gcc", "pilot=weir copilots=gcc fusion=max",
                           "pilot=weir copilots=gcc fusion=min policy=by_trust"}) {
    EXPECT_FALSE(split(line).ok()) << line;
  }
}

TEST(Command, OnlyAGivenStartRateRestarts) {
  const auto bounds = Parsed<BitrateCommand>(R"({"type":"bitrate","min_bps":30000,"max_bps":5e6})");
  EXPECT_FALSE(bounds.restart);
  EXPECT_EQ(bounds.bitrate.max_rate.bps(), 5'000'000);
  EXPECT_TRUE(Parsed<BitrateCommand>(R"({"type":"bitrate","min_bps":1000,"start_bps":2000,"max_bps":3000})").restart);
}

TEST(Command, WhatIsWrongIsAnswered) {
  for (const std::string line : {"",
                                 "{",
                                 "null",
                                 "[1]",
                                 "\"start\"",
                                 "{}",
                                 R"({"type":1})",
                                 R"({"type":"walk"})",
                                 R"({"type":"offer"})",
                                 R"({"type":"offer","sdp":null})",
                                 R"({"type":"candidate","candidate":[]})",
                                 R"({"type":"candidate","sdpMLineIndex":-1})",
                                 R"({"type":"candidate","sdpMLineIndex":1e300})",
                                 R"({"type":"candidate","sdpMLineIndex":0.5})",
                                 R"({"type":"objective","throughput":1,"latency":1})",
                                 R"({"type":"objective","throughput":1e99,"latency":1,"loss":1})",
                                 R"({"type":"objective","throughput":"1","latency":1,"loss":1})",
                                 R"({"type":"bitrate","min_bps":10,"max_bps":3000})",
                                 R"({"type":"bitrate","min_bps":5000,"max_bps":3000})",
                                 R"({"type":"bitrate","min_bps":5000,"max_bps":1e18})",
                                 R"({"type":"controller","name":"pid"})"}) {
    EXPECT_FALSE(ParseCommand(line).ok()) << line;
  }
  EXPECT_FALSE(ParseCommand(std::string(100'000, '[')).ok());
}

}  // namespace
}  // namespace weir::peer
