#include "observation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace weir::janus {
namespace {

class ObservationTest : public testing::Test {
 protected:
  ObservationTest() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-janus-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ObservationTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(folder_ + "/in_charge") << text; }

  std::string folder_;
};

TEST_F(ObservationTest, ShareIsThatOfTheOtherHosts) {
  // plugins/pion/observe and the patch of libwebrtc have tests with the same values.
  for (const auto& [connection, share] :
       {std::pair{"", 0.889416}, std::pair{"PA_1", 0.788968}, std::pair{"call 7", 0.576163}}) {
    EXPECT_TRUE(IsInShare(connection, share + 1e-6));
    EXPECT_FALSE(IsInShare(connection, share - 1e-6));
  }
  EXPECT_FALSE(IsInShare("", 0));
  EXPECT_TRUE(IsInShare("", 1));
}

TEST_F(ObservationTest, FirstLineIsTheShareAndFurtherLinesAreExceptions) {
  const auto parsed = ParseInCharge("\n 1 \r\n4611731400430051336\n\n x \n");
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->Includes("4611731400430051336"));
  EXPECT_FALSE(parsed->Includes("x"));
  EXPECT_TRUE(parsed->Includes("y"));
}

TEST_F(ObservationTest, WrongSharesAreRefused) {
  for (const char* text : {"", "\n", "-0.1", "1.1", "nan", "inf", "0.5x", "all", "0x1"})
    EXPECT_FALSE(ParseInCharge(text)) << text;
}

TEST_F(ObservationTest, FileReplacesTheConfiguredShareWhileItExists) {
  InCharge configured;
  configured.share = 0.25;
  InChargeFile file(folder_ + "/in_charge", configured);
  std::string error;
  EXPECT_FALSE(file.Poll(&error));
  Write("0.5");
  EXPECT_EQ(file.Poll(&error)->share, 0.5);
  EXPECT_FALSE(file.Poll(&error));
  std::filesystem::remove(folder_ + "/in_charge");
  EXPECT_EQ(file.Poll(&error)->share, 0.25);
  EXPECT_FALSE(file.Poll(&error));
  EXPECT_EQ(error, "");
}

TEST_F(ObservationTest, WrongFileChangesNothingAndIsReportedOnce) {
  InChargeFile file(folder_ + "/in_charge", {});
  std::string error;
  Write("half");
  EXPECT_FALSE(file.Poll(&error));
  EXPECT_NE(error, "");
  error.clear();
  EXPECT_FALSE(file.Poll(&error));
  EXPECT_EQ(error, "");
}

TEST_F(ObservationTest, FifoInPlaceOfTheFileDoesNotBlock) {
  ASSERT_EQ(mkfifo((folder_ + "/in_charge").c_str(), 0600), 0);
  InChargeFile file(folder_ + "/in_charge", {});
  std::string error;
  EXPECT_FALSE(file.Poll(&error));
  EXPECT_NE(error, "");
}

TEST_F(ObservationTest, LogHasTheLinesThatTheReportReads) {
  ObservationLog log(folder_, "17", true, 5);
  weir_estimator_statistics statistics{};
  statistics.target_rate_bps = 300'000;
  statistics.reason = "controller";
  statistics.receive_rate_bps = 200'000;
  statistics.queueing_delay_us = 1'250;
  statistics.loss_ratio = 0.0125;
  ASSERT_TRUE(log.Write(statistics, false, std::nullopt, 7));
  ASSERT_TRUE(log.Write(statistics, true, 128'000, 8));
  std::ifstream file(folder_ + "/17-5.observed.jsonl");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            R"({"type":"log","begin_us":5,"feedback":"transport-cc","connection":"17","host":"janus","other":"gcc"})"
            "\n"
            R"({"type":"observation","time_us":7,"in_charge":"gcc","other_bps":null,"weir_bps":300000,)"
            R"("weir_reason":"controller","received_bps":200000,"loss_ratio":0.0125,"queueing_delay_ms":1.25})"
            "\n"
            R"({"type":"observation","time_us":8,"in_charge":"weir","other_bps":128000,"weir_bps":300000,)"
            R"("weir_reason":"controller","received_bps":200000,"loss_ratio":0.0125,"queueing_delay_ms":1.25})"
            "\n");
}

TEST_F(ObservationTest, LogEndsWhereItCannotBeWritten) {
  weir_estimator_statistics statistics{};
  statistics.reason = "start";
  ObservationLog nowhere(folder_ + "/missing", "17", true, 5);
  EXPECT_FALSE(nowhere.Write(statistics, false, std::nullopt, 7));
  ObservationLog first(folder_, "17", true, 5);
  ObservationLog second(folder_, "17", true, 5);
  EXPECT_TRUE(first.Write(statistics, false, std::nullopt, 7));
  EXPECT_FALSE(second.Write(statistics, false, std::nullopt, 7)) << "overwrites a log";
}

}  // namespace
}  // namespace weir::janus
