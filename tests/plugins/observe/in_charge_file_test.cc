#include "observe/in_charge_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "folder.h"
#include "gtest/gtest.h"

namespace weir::observe {
namespace {

constexpr int64_t kReadAgainUs = 500'000;

class InChargeFileTest : public testing::Test {
 protected:
  // After the next read.
  bool Includes(const std::string& connection) {
    now_us_ += kReadAgainUs;
    return file_.Includes(ConnectionId(connection), now_us_);
  }

  Folder folder_;
  std::vector<std::string> errors_;
  InChargeFile file_{folder_.in_charge(), 0.6, [this](const std::string& error) { errors_.push_back(error); }};
  int64_t now_us_ = 0;
};

// Their shares are 0.58 and 0.79.
constexpr char kLower[] = "call 7";
constexpr char kHigher[] = "PA_1";

TEST_F(InChargeFileTest, WithoutAFileTheShareOfTheHostIsInForce) {
  EXPECT_TRUE(Includes(kLower));
  EXPECT_FALSE(Includes(kHigher));
  InChargeFile none("", 1, [](const std::string& error) { ADD_FAILURE() << error; });
  EXPECT_TRUE(none.Includes(ConnectionId(kHigher), 0));
}

TEST_F(InChargeFileTest, FirstLineIsTheShareAndFurtherLinesAreExceptions) {
  folder_.Write("in_charge", "\n 0.7 \r\n\nPA_2\n \u00a0call 7 \n");
  EXPECT_FALSE(Includes(kLower));
  EXPECT_FALSE(Includes(kHigher));
  folder_.Write("in_charge", "1\rcall 7");
  EXPECT_FALSE(Includes(kLower));
  EXPECT_TRUE(Includes(kHigher));
  // Not a prefix of it, as a string would be.
  EXPECT_TRUE(Includes("call 70"));
}

TEST_F(InChargeFileTest, AChangeOrRemovalIsFollowedWithinHalfASecond) {
  EXPECT_FALSE(Includes(kHigher));
  folder_.Write("in_charge", "1");
  EXPECT_FALSE(file_.Includes(ConnectionId(kHigher), now_us_ + kReadAgainUs - 1));
  EXPECT_TRUE(Includes(kHigher));
  folder_.Write("in_charge", "0");
  EXPECT_FALSE(Includes(kLower));
  std::filesystem::remove(folder_.in_charge());
  EXPECT_TRUE(Includes(kLower));
  EXPECT_FALSE(Includes(kHigher));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(InChargeFileTest, AWrongFileChangesNothingAndIsReportedOnce) {
  folder_.Write("in_charge", "0.7\nx");
  EXPECT_TRUE(Includes(kLower));
  size_t reports = 0;
  for (const std::string& wrong :
       {std::string("half"), std::string("1.5"), std::string("-0.1"), std::string("nan"), std::string("inf"),
        std::string("0x1"), std::string("0.1 0.2"), std::string(2 << 20, '1')}) {
    folder_.Write("in_charge", wrong);
    EXPECT_TRUE(Includes(kLower)) << wrong.substr(0, 20);
    EXPECT_FALSE(Includes(kHigher)) << wrong.substr(0, 20);
    EXPECT_EQ(errors_.size(), ++reports) << wrong.substr(0, 20);
  }
  folder_.Write("in_charge", "0.3");
  EXPECT_FALSE(Includes(kLower));
}

TEST_F(InChargeFileTest, AnEmptyFileIsBeingWritten) {
  folder_.Write("in_charge", "1");
  EXPECT_TRUE(Includes(kHigher));
  folder_.Write("in_charge", "");
  EXPECT_TRUE(Includes(kHigher));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(InChargeFileTest, AFifoIsNotRead) {
  ASSERT_EQ(mkfifo(folder_.in_charge().c_str(), 0600), 0);
  EXPECT_TRUE(Includes(kLower));
  EXPECT_TRUE(Includes(kLower));
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_NE(errors_[0].find("not a regular file"), std::string::npos);
}

TEST(ParseShareTest, OnlyNumbersFrom0To1AreShares) {
  EXPECT_EQ(ParseShare(" 0.25\t"), 0.25);
  EXPECT_EQ(ParseShare("0"), 0);
  EXPECT_EQ(ParseShare("1"), 1);
  for (const char* text : {"", "-0.1", "1.1", "nan", "inf", "0.5x", "all", "0x1"})
    EXPECT_FALSE(ParseShare(text)) << text;
}

}  // namespace
}  // namespace weir::observe
