// The real-time link without real time: socket pairs for devices, the simulator's time for the clock. So every
// number is exact. And the commands of `weir-sim link`.
#include "real_time_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "link_process.h"
#include "programs/file_descriptor.h"
#include "programs/input.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"
#include "tun.h"

namespace weir::sim {
namespace {

using Packets = std::vector<std::vector<uint8_t>>;

class RealTimeLinkTest : public SimulationTest {
 protected:
  RealTimeLinkTest() {
    for (auto& ends : {&left_, &right_}) {
      int fds[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
      (*ends)[0] = FileDescriptor(fds[0]);
      (*ends)[1] = FileDescriptor(fds[1]);
    }
  }

  void Make(const json& scenario) {
    link_.emplace(JobOf(scenario, "rule"),
                  RealTimeLinkConfig{
                      .left_fd = left_[0].get(),
                      .right_fd = right_[0].get(),
                      .log_interval = 100 * kMs,
                      .clock = [] { return (Now() + 77 * kSecond + behind).ns(); },
                      .on_log = [this](const auto& line) { lines_.push_back(line); },
                      .on_too_slow = [this](const std::string& message) { too_slow_.push_back(message); },
                  });
  }

  static std::vector<uint8_t> Ipv4(size_t size_bytes, uint8_t mark = 0) {
    std::vector<uint8_t> packet(size_bytes, mark);
    packet[0] = 0x45;
    return packet;
  }
  void SendAt(SimTime time, TunFlow& flow, std::vector<uint8_t> packet) {
    At(time, [&flow, packet = std::move(packet)] { flow.Send(packet, (Now() + 77 * kSecond).ns()); });
  }
  // Packets that arrived at an end since the last call.
  static Packets Receive(const FileDescriptor& end) {
    Packets packets;
    std::vector<uint8_t> buffer(65536);
    for (ssize_t count = 0; (count = read(end.get(), buffer.data(), buffer.size())) > 0;) {
      packets.emplace_back(buffer.begin(), buffer.begin() + count);
    }
    return packets;
  }
  // The sum over the forward lines.
  int64_t Total(const char* name, const char* direction = "forward") const {
    int64_t sum = 0;
    for (const auto& line : lines_) {
      if (line["direction"] == direction) sum += line[name].get<int64_t>();
    }
    return sum;
  }
  // The forward line that ended then.
  nlohmann::ordered_json LineAt(double scenario_time_s) const {
    for (const auto& line : lines_) {
      if (line["direction"] == "forward" && line["scenario_time_s"].is_number() &&
          std::abs(line["scenario_time_s"].get<double>() - scenario_time_s) < 1e-9) {
        return line;
      }
    }
    ADD_FAILURE() << "no line at " << scenario_time_s;
    return {};
  }

  // How far the simulator is behind the clock.
  static inline SimDuration behind = SimDuration::Zero();

  std::array<FileDescriptor, 2> left_;
  std::array<FileDescriptor, 2> right_;
  std::vector<nlohmann::ordered_json> lines_;
  std::vector<std::string> too_slow_;
  std::optional<RealTimeLink> link_;
};

TEST_F(RealTimeLinkTest, PacketsComeOutAsTheyWentInWhenTheLinkSays) {
  Make(Steady(1'000'000, 10));
  SendAt(kMs, link_->forward().flow(), Ipv4(1250, 1));
  SendAt(kMs, link_->forward().flow(), Ipv4(125, 2));
  SendAt(kMs, link_->reverse().flow(), Ipv4(1250, 3));
  // 10 ms of transmission, 25 of propagation; the return path is unlimited.
  RunUntil(26 * kMs - 1);
  EXPECT_TRUE(Receive(left_[1]).empty());
  RunUntil(26 * kMs + 1);
  EXPECT_EQ(Receive(left_[1]), Packets{Ipv4(1250, 3)});
  RunUntil(36 * kMs - 1);
  EXPECT_TRUE(Receive(right_[1]).empty());
  RunUntil(36 * kMs + 1);
  EXPECT_EQ(Receive(right_[1]), Packets{Ipv4(1250, 1)});
  RunUntil(37 * kMs + 1);
  EXPECT_EQ(Receive(right_[1]), Packets{Ipv4(125, 2)});
  RunUntil(100 * kMs + 1);
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0]["direction"], "forward");
  EXPECT_EQ(lines_[0]["time_us"], 77'100'000);
  EXPECT_TRUE(lines_[0]["scenario_time_s"].is_null());
  EXPECT_EQ(lines_[0]["capacity_bps"], 1'000'000);
  EXPECT_EQ(lines_[0]["packets"], 2);
  EXPECT_EQ(lines_[0]["bytes"], 1375);
  EXPECT_EQ(lines_[0]["carried_bytes"], 1375);
  EXPECT_EQ(lines_[0]["idle_ms"], 89.0);
  EXPECT_EQ(lines_[0]["one_way_delay_ms_mean"], 35.5);
  EXPECT_EQ(lines_[0]["delay_error_ms_p95"], 0.0);
  EXPECT_EQ(lines_[0]["late_packets"], 0);
  EXPECT_EQ(lines_[1]["direction"], "reverse");
  EXPECT_TRUE(lines_[1]["capacity_bps"].is_null());
  EXPECT_EQ(lines_[1]["packets"], 1);
}

// RFC 1071 over an IPv4 header without options: 0 where its checksum is right.
uint16_t Ipv4Checksum(const std::vector<uint8_t>& packet) {
  uint32_t sum = 0;
  for (size_t i = 0; i < 20; i += 2) sum += static_cast<uint32_t>(packet[i] << 8 | packet[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

TEST_F(RealTimeLinkTest, AnL4sQueueMarksRealPackets) {
  json scenario = Steady(1'000'000, 10);
  scenario["forward"]["queue_discipline"] = "dualpi2";
  Make(scenario);
  constexpr uint8_t kDscp = 0xb8, kEct1 = 1, kCe = 3;
  constexpr uint8_t kPackets = 100;
  // Headers differ, so that the sums carry in different ways.
  for (uint8_t number = 0; number < kPackets; ++number) {
    for (const uint8_t ecn : {kEct1, uint8_t{0}}) {
      std::vector<uint8_t> packet = Ipv4(500, static_cast<uint8_t>(13 * number));
      packet[1] = kDscp | ecn;
      packet[10] = packet[11] = 0;
      const uint16_t checksum = Ipv4Checksum(packet);
      packet[10] = static_cast<uint8_t>(checksum >> 8);
      packet[11] = static_cast<uint8_t>(checksum);
      SendAt((1 + 4 * number) * kMs, link_->forward().flow(), std::move(packet));
    }
  }
  RunUntil(3 * kSecond);
  int64_t marked = 0;
  for (const std::vector<uint8_t>& packet : Receive(right_[1])) {
    EXPECT_EQ(Ipv4Checksum(packet), 0);
    EXPECT_EQ(packet[1] & ~kCe, kDscp);
    marked += (packet[1] & kCe) == kCe ? 1 : 0;
  }
  EXPECT_GT(marked, 0);
  EXPECT_LE(marked, kPackets);
  EXPECT_EQ(Total("ce_packets"), marked);
}

TEST_F(RealTimeLinkTest, TheScenarioBeginsWhenItIsTold) {
  json scenario = PathOf({{0.0, 1'000'000}, {0.5, 3'000'000}}, 10);
  scenario["flows"].push_back({{"kind", "cbr"},
                               {"id", "cross"},
                               {"rate_bps", 800'000},
                               {"packet_bytes", 1000},
                               {"start_s", 1.0},
                               {"stop_s", 2.0}});
  Make(scenario);
  At(3'333 * kMs, [&] { link_->Start(); });
  RunUntil(8 * kSecond);
  // The first line also covers time before the start.
  EXPECT_EQ(LineAt(0.1)["capacity_bps"], 1'000'000);
  EXPECT_EQ(LineAt(0.5)["capacity_bps"], 1'000'000);
  EXPECT_EQ(LineAt(0.6)["capacity_bps"], 3'000'000);
  EXPECT_EQ(LineAt(1.0)["carried_bytes"], 0);
  // From 1 s on a packet each 10 ms, each 2.67 ms in transmission.
  EXPECT_EQ(LineAt(1.1)["carried_bytes"], 10'000);
  EXPECT_EQ(Total("carried_bytes"), 100'000);
  EXPECT_EQ(Total("cross_traffic_bytes"), 100'000);
  EXPECT_EQ(Total("packets"), 0);
  At(Now() + Ns(1), [&] { EXPECT_THROW(link_->Start(), ProgramError); });
  // After the end all goes on, without the other flows.
  RunUntil(20 * kSecond);
  EXPECT_EQ(LineAt(16.0)["capacity_bps"], 3'000'000);
  EXPECT_EQ(Total("carried_bytes"), 100'000);
}

TEST_F(RealTimeLinkTest, ATraceThatBeginsWithAnOutageLetsTheCallConnect) {
  Make(PathOf({{0.0, 0}, {1.0, 500'000}}, 10));
  SendAt(kTimeZero, link_->forward().flow(), Ipv4(1250));
  RunUntil(60 * kMs);
  EXPECT_EQ(Receive(right_[1]).size(), 1u);
  At(100 * kMs, [&] { link_->Start(); });
  SendAt(200 * kMs, link_->forward().flow(), Ipv4(1250));
  RunUntil((1100 + 45) * kMs - 1);
  EXPECT_TRUE(Receive(right_[1]).empty());
  RunUntil((1100 + 45) * kMs + 1);
  EXPECT_EQ(Receive(right_[1]).size(), 1u);
  EXPECT_EQ(LineAt(0.5)["capacity_bps"], 0);
}

TEST_F(RealTimeLinkTest, WhatWaitsAtTheStartDoesNotDepartAtTheFirstRate) {
  Make(PathOf({{0.0, 10'000}, {0.5, 1'000'000}}, 10));
  for (uint8_t mark = 0; mark < 5; ++mark) SendAt(kTimeZero, link_->forward().flow(), Ipv4(1250, mark));
  At(kMs, [&] { link_->Start(); });
  // 50,000 bits at 950.5 kbps, where the first rate would take 5 s.
  RunUntil((53 + 25) * kMs);
  EXPECT_EQ(Receive(right_[1]).size(), 5u);
}

TEST_F(RealTimeLinkTest, DownDropsWhatIsSentAndWhatArrives) {
  Make(Steady(1'000'000, 10));
  SendAt(90 * kMs, link_->forward().flow(), Ipv4(1250));
  At(100 * kMs, [&] { link_->Down(200 * kMs); });
  SendAt(150 * kMs, link_->forward().flow(), Ipv4(1250));
  SendAt(150 * kMs, link_->reverse().flow(), Ipv4(1250));
  // Neither shortens the first.
  At(200 * kMs, [&] { link_->Down(10 * kMs); });
  SendAt(299 * kMs, link_->forward().flow(), Ipv4(1250));
  SendAt(301 * kMs, link_->forward().flow(), Ipv4(1250, 9));
  RunUntil(kSecond);
  EXPECT_EQ(Receive(right_[1]), Packets{Ipv4(1250, 9)});
  EXPECT_EQ(Total("dropped_while_down_packets"), 3);
  EXPECT_EQ(Total("dropped_while_down_packets", "reverse"), 1);
  EXPECT_EQ(Total("dropped_packets"), 0);
}

TEST_F(RealTimeLinkTest, TheLoggedCapacityIsZeroWhileTheLinkIsDown) {
  Make(Steady(1'000'000, 10));
  link_->Start();
  At(150 * kMs, [&] { link_->Down(250 * kMs); });
  At(300 * kMs, [&] { link_->Down(100 * kMs); });
  RunUntil(kSecond);
  EXPECT_EQ(LineAt(0.1)["capacity_bps"], 1'000'000);
  EXPECT_EQ(LineAt(0.2)["capacity_bps"], 500'000);
  EXPECT_EQ(LineAt(0.3)["capacity_bps"], 0);
  EXPECT_EQ(LineAt(0.4)["capacity_bps"], 0);
  // The first line also covers time before the start.
  EXPECT_EQ(LineAt(0.1)["capacity_bps"], 1'000'000);
  EXPECT_EQ(LineAt(0.5)["capacity_bps"], 1'000'000);
}

TEST_F(RealTimeLinkTest, TheQueueDropsAndTheLogTells) {
  json scenario = Steady(1'000'000, 10);
  scenario["forward"]["queue"] = {{"packets", 5}};
  Make(scenario);
  for (int i = 0; i < 8; ++i) SendAt(50 * kMs, link_->forward().flow(), Ipv4(1250));
  RunUntil(100 * kMs + 1);
  EXPECT_EQ(lines_[0]["dropped_packets"], 3);
  EXPECT_EQ(lines_[0]["idle_ms"], 50.0);
  EXPECT_EQ(lines_[0]["carried_bytes"], 5 * 1250);
  EXPECT_EQ(lines_[0]["packets"], 2);
  RunUntil(kSecond);
  EXPECT_EQ(Receive(right_[1]).size(), 5u);
}

TEST_F(RealTimeLinkTest, RefusesWhatIsNotForIt) {
  Make(Steady(1'000'000, 10));
  std::vector<uint8_t> ipv6 = Ipv4(100);
  ipv6[0] = 0x60;
  SendAt(kTimeZero, link_->forward().flow(), ipv6);
  SendAt(kTimeZero, link_->forward().flow(), Ipv4(1501));
  SendAt(kTimeZero, link_->forward().flow(), Ipv4(19));
  SendAt(kTimeZero, link_->forward().flow(), {});
  SendAt(kTimeZero, link_->forward().flow(), Ipv4(1500));
  At(Ns(1), [&] { link_->forward().flow().CountRefused(); });
  RunUntil(kSecond);
  EXPECT_EQ(Receive(right_[1]).size(), 1u);
  EXPECT_EQ(Total("refused_packets"), 5);
}

TEST_F(RealTimeLinkTest, KeepsNoMoreThanItMay) {
  json scenario = PathOf({{0.0, 1'000'000}, {0.1, 0}}, 10);
  scenario["forward"]["queue"] = {{"bytes", 1'000'000'000'000}};
  scenario["forward"]["one_way_delay_ms"] = 1e6;
  scenario["forward"]["capacity"] = nullptr;
  Make(scenario);
  const auto most = static_cast<int>(TunFlow::kMaxBytesOnTheWay / 1500);
  At(kTimeZero, [&] {
    const std::vector<uint8_t> packet = Ipv4(1500);
    for (int i = 0; i < most + 10; ++i) link_->forward().flow().Send(packet, (Now() + 77 * kSecond).ns());
  });
  RunUntil(kSecond);
  EXPECT_EQ(Total("refused_packets"), 10);
}

TEST_F(RealTimeLinkTest, LatenessIsLoggedAndEndsItOnlyWhenItStays) {
  Make(Steady(1'000'000, 60));
  SendAt(kTimeZero, link_->forward().flow(), Ipv4(1250));
  SendAt(120 * kMs, link_->forward().flow(), Ipv4(1250));
  At(130 * kMs, [] { behind = 3 * kSecond; });
  RunUntil(kSecond);
  EXPECT_EQ(lines_[0]["late_packets"], 0);
  EXPECT_EQ(lines_[2]["late_packets"], 1);
  EXPECT_EQ(lines_[2]["delay_error_ms_p95"], 3000.0);
  EXPECT_EQ(lines_[0]["delay_error_ms_counts"], json({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(lines_[2]["delay_error_ms_counts"], json({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(lines_[2]["lag_ms"], 3000.0);
  // As after a pause of the machine.
  At(3 * kSecond, [] { behind = SimDuration::Zero(); });
  RunUntil(10 * kSecond);
  EXPECT_TRUE(too_slow_.empty());
  At(11 * kSecond, [] { behind = 3 * kSecond; });
  RunUntil(15 * kSecond);
  EXPECT_TRUE(too_slow_.empty());
  RunUntil(17 * kSecond);
  EXPECT_FALSE(too_slow_.empty());
  behind = SimDuration::Zero();
}

TEST_F(RealTimeLinkTest, APolicerAndSlotsAreThereBeforeTheStartToo) {
  json scenario = Steady(100'000'000, 10);
  scenario["forward"]["loss"] = {{"kind", "policer"}, {"rate_bps", 1'000'000}, {"burst_bytes", 2500}};
  scenario["forward"]["jitter"] = {{"kind", "slotted"}, {"interval_ms", 20}};
  Make(scenario);
  // Two fill the bucket, and 20 ms later again.
  for (const Ns time : {kMs, 21 * kMs}) {
    for (uint8_t mark = 0; mark < 5; ++mark) SendAt(time, link_->forward().flow(), Ipv4(1250, mark));
  }
  for (int slots = 0; slots < 2;) {
    RunUntil(Now() + kMs);
    ASSERT_LT(Now(), 70 * kMs);
    const Packets packets = Receive(right_[1]);
    if (packets.empty()) continue;
    EXPECT_EQ(packets, (Packets{Ipv4(1250, 0), Ipv4(1250, 1)}));
    ++slots;
  }
  RunUntil(100 * kMs + 1);
  EXPECT_EQ(Total("packets"), 4);
  EXPECT_EQ(Total("dropped_packets"), 6);
  EXPECT_EQ(lines_[0]["capacity_bps"], 1'000'000);
}

TEST_F(RealTimeLinkTest, NeedsAFlowForTheCall) {
  json scenario = Steady(1'000'000, 10);
  EXPECT_EQ(RealTimeLink::RealFlowIndex(ParseScenario(WholeScenario(scenario))), 0u);
  const json cross = {{"kind", "cbr"}, {"id", "cross"}, {"rate_bps", 1000}};
  scenario["flows"].insert(scenario["flows"].begin(), cross);
  EXPECT_EQ(RealTimeLink::RealFlowIndex(ParseScenario(WholeScenario(scenario))), 1u);
  scenario["flows"].erase(1);
  EXPECT_THROW(RealTimeLink::RealFlowIndex(ParseScenario(WholeScenario(scenario))), ProgramError);
}

TEST_F(RealTimeLinkTest, OtherRtpAndTcpFlowsShareTheLink) {
  json scenario = Steady(2'000'000, 10);
  scenario["flows"].push_back(RtpFlow("other"));
  scenario["flows"].push_back({{"kind", "tcp"}, {"id", "bulk"}});
  Make(scenario);
  At(5 * kSecond, [&] { link_->Start(); });
  RunUntil(5 * kSecond);
  EXPECT_EQ(Total("carried_bytes"), 0);
  RunUntil(16 * kSecond);
  const double achievable_bytes = 2e6 / 8 * 10;
  EXPECT_GT(static_cast<double>(Total("carried_bytes")), 0.9 * achievable_bytes);
  EXPECT_GT(static_cast<double>(Total("cross_traffic_bytes")), 0.9 * achievable_bytes);
  // And what was in the queue at the end.
  EXPECT_LE(static_cast<double>(Total("carried_bytes")), achievable_bytes + 0.3 * 2e6 / 8);
}

std::string ErrorOf(std::string_view line) {
  try {
    ParseLinkCommand(line);
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

TEST(LinkControlTest, Commands) {
  EXPECT_EQ(ParseLinkCommand(R"({"type":"start"})").type, LinkCommand::Type::kStart);
  EXPECT_EQ(ParseLinkCommand(R"( {"type": "stop"} )").type, LinkCommand::Type::kStop);
  const LinkCommand down = ParseLinkCommand(R"({"type":"down","duration_s":2.5})");
  EXPECT_EQ(down.type, LinkCommand::Type::kDown);
  EXPECT_EQ(down.down_duration, 2'500 * kMs);
}

TEST(LinkControlTest, RefusesWhatIsNoCommand) {
  EXPECT_NE(ErrorOf("start").find("not JSON"), std::string::npos);
  EXPECT_NE(ErrorOf("\xff\xfe").find("not JSON"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(100'000, '[')).find("nested deeper than 256 levels"), std::string::npos);
  EXPECT_NE(ErrorOf("[]").find("must be"), std::string::npos);
  EXPECT_NE(ErrorOf("{}").find("type"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"type":"sleep"})").find("type"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"type":"start","at":1})").find("at"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"type":"down"})").find("duration_s"), std::string::npos);
  for (const char* duration : {"0", "-1", "3601", "1e300", "\"5\"", "null", "true"}) {
    const std::string line = std::string(R"({"type":"down","duration_s":)") + duration + "}";
    EXPECT_NE(ErrorOf(line).find("duration_s"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace weir::sim
