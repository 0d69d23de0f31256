#include "connection.h"

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "folder.h"
#include "gtest/gtest.h"

namespace weir::mediasoup {
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

TEST(ConnectionTest, AnObservationIsDueEachSecondWithPackets) {
  Folder folder;
  const auto settings = ShippedSettings(folder.path());
  Connection connection(*settings, "a", "gcc");
  EXPECT_TRUE(connection.ObservationIsDue(kSecondUs, kSecondUs));
  EXPECT_FALSE(connection.ObservationIsDue(kSecondUs, 2 * kSecondUs - 1));
  EXPECT_TRUE(connection.ObservationIsDue(kSecondUs, 2 * kSecondUs));
  EXPECT_FALSE(connection.ObservationIsDue(kSecondUs, 3 * kSecondUs));
}

TEST(ConnectionTest, NothingIsLoggedWithoutAFolder) {
  const auto settings = ShippedSettings();
  Connection connection(*settings, "a", "gcc");
  EXPECT_FALSE(connection.ObservationIsDue(kSecondUs, kSecondUs));
}

TEST(ConnectionTest, LinesAreThoseOfTheOtherHosts) {
  Folder folder;
  const auto settings = ShippedSettings(folder.path());
  {
    Connection connection(*settings, "a \"b\"\n", "gcc");
    connection.Observe(Statistics(), std::nullopt, 5 * kSecondUs);
    folder.Write("in_charge", "1");
    connection.Observe(Statistics(), 700'000, 6 * kSecondUs);
  }
  const std::vector<std::string> lines = folder.LogLines();
  ASSERT_EQ(lines.size(), 3u);
  const std::regex head(R"re(\{"type":"log","begin_us":(\d+),"feedback":"transport-cc",)re"
                        R"re("connection":"a \\"b\\"\?","host":"mediasoup","other":"gcc"\})re");
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

TEST(ConnectionTest, AFolderThatIsGoneEndsTheLogAndNothingElse) {
  Folder folder;
  const auto settings = ShippedSettings(folder.path());
  Connection connection(*settings, "a", "gcc");
  std::filesystem::remove_all(folder.path());
  connection.Observe(Statistics(), std::nullopt, kSecondUs);
  EXPECT_FALSE(connection.ObservationIsDue(3 * kSecondUs, 3 * kSecondUs));
  EXPECT_FALSE(connection.IsWeirInCharge(3 * kSecondUs));
}

}  // namespace
}  // namespace weir::mediasoup
