#include "observe/connection.h"

#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "folder.h"
#include "gtest/gtest.h"

namespace weir::observe {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

weir_estimator_statistics Statistics() {
  weir_estimator_statistics statistics{};
  statistics.target_rate_bps = 900'000;
  statistics.reason = "controller";
  statistics.receive_rate_bps = 800'000;
  statistics.queueing_delay_us = 12'345;
  statistics.loss_ratio = 0.0125;
  return statistics;
}

class ConnectionTest : public testing::Test {
 protected:
  Folder folder_;
  std::vector<std::string> errors_;
  Connections connections_{"sfu", folder_.path(), 0, [this](const std::string& error) { errors_.push_back(error); }};
  Connection connection_{connections_, ConnectionId("a \"b\"\x01\u00e9\\\n"), "gcc"};
};

TEST_F(ConnectionTest, AnObservationIsDueEachSecondWithPackets) {
  EXPECT_TRUE(connection_.ObservationIsDue(kSecondUs, kSecondUs));
  EXPECT_FALSE(connection_.ObservationIsDue(kSecondUs, 2 * kSecondUs - 1));
  EXPECT_TRUE(connection_.ObservationIsDue(kSecondUs, 2 * kSecondUs));
  EXPECT_FALSE(connection_.ObservationIsDue(kSecondUs, 3 * kSecondUs));
}

TEST_F(ConnectionTest, WithoutAFolderNothingIsLoggedAndTheShareIsInForce) {
  Connections all("sfu", "", 1, [](const std::string& error) { ADD_FAILURE() << error; });
  Connection connection(all, ConnectionId("a"), "gcc");
  EXPECT_FALSE(connection.ObservationIsDue(kSecondUs, kSecondUs));
  EXPECT_TRUE(connection.IsWeirInCharge(kSecondUs));
  connection.Observe(Statistics(), std::nullopt, kSecondUs);
}

TEST_F(ConnectionTest, LinesAreThoseOfTheOtherHosts) {
  EXPECT_TRUE(folder_.LogLines().empty()) << "a file without an observation";
  connection_.Observe(Statistics(), std::nullopt, 5 * kSecondUs);
  folder_.Write("in_charge", "1");
  connection_.Observe(Statistics(), 700'000, 6 * kSecondUs);
  const std::vector<std::string> lines = folder_.LogLines();
  ASSERT_EQ(lines.size(), 3u);
  const std::regex head(R"re(\{"type":"log","begin_us":(\d+),"feedback":"transport-cc",)re"
                        R"re("connection":"a \\"b\\"\\u0001é\\\\","host":"sfu","other":"gcc"\})re");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(lines[0], match, head)) << lines[0];
  const int64_t begin_us = std::stoll(match[1]);
  const std::string of_weir =
      R"(,"weir_bps":900000,"weir_reason":"controller","received_bps":800000,"loss_ratio":0.012500,)"
      R"("queueing_delay_ms":12.345})";
  EXPECT_EQ(lines[1], R"({"type":"observation","time_us":)" + std::to_string(begin_us) +
                          R"(,"in_charge":"gcc","other_bps":null)" + of_weir);
  EXPECT_EQ(lines[2], R"({"type":"observation","time_us":)" + std::to_string(begin_us + kSecondUs) +
                          R"(,"in_charge":"weir","other_bps":700000)" + of_weir);
}

TEST_F(ConnectionTest, BothDirectionsHaveLogs) {
  Connection other(connections_, ConnectionId("a \"b\"\x01\u00e9\\\n"), "gcc-remb", "remb");
  connection_.Observe(Statistics(), std::nullopt, kSecondUs);
  other.Observe(Statistics(), std::nullopt, kSecondUs);
  EXPECT_EQ(folder_.LogLines().size(), 4u);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(ConnectionTest, AFolderThatIsGoneEndsTheLogAndNothingElse) {
  std::filesystem::remove_all(folder_.path());
  connection_.Observe(Statistics(), std::nullopt, kSecondUs);
  EXPECT_FALSE(connection_.ObservationIsDue(3 * kSecondUs, 3 * kSecondUs));
  EXPECT_FALSE(connection_.IsWeirInCharge(3 * kSecondUs));
  connection_.Observe(Statistics(), std::nullopt, 4 * kSecondUs);
  EXPECT_EQ(errors_.size(), 1u);
}

}  // namespace
}  // namespace weir::observe
