#include "control_file.h"

#include <sys/stat.h>

#include <string>
#include <utility>

#include "folder.h"
#include "gtest/gtest.h"

namespace weir::mediasoup {
namespace {

constexpr int64_t kReadAgainUs = 500'000;

// plugins/pion/observe/observe_test.go has the same values.
TEST(ShareOfTest, TheShareOfAnIdentifierIsTheSameInEveryProgram) {
  for (const auto& [connection, share] :
       {std::pair{"", 0.889416}, std::pair{"PA_1", 0.788968}, std::pair{"call 7", 0.576163}}) {
    EXPECT_NEAR(ShareOf(connection), share, 1e-6) << connection;
  }
}

class ControlFileTest : public testing::Test {
 protected:
  // After the next read.
  bool IsInCharge(double share, const std::string& connection = "a") {
    now_us_ += kReadAgainUs;
    return file_.IsInCharge(connection, share, now_us_);
  }

  Folder folder_;
  ControlFile file_{folder_.in_charge()};
  int64_t now_us_ = 0;
};

TEST_F(ControlFileTest, WithoutAFileTheOtherEstimatorIsInChargeOfAll) { EXPECT_FALSE(IsInCharge(0)); }

TEST_F(ControlFileTest, WeirIsInChargeOfTheShareExceptOfTheConnectionsNamed) {
  folder_.Write("in_charge", " 0.05 \r\n\nb\n c d \n");
  EXPECT_TRUE(IsInCharge(0.04));
  EXPECT_FALSE(IsInCharge(0.05));
  EXPECT_FALSE(IsInCharge(0.04, "b"));
  EXPECT_FALSE(IsInCharge(0.04, "c d"));
}

TEST_F(ControlFileTest, AChangeOrRemovalIsFollowedWithinHalfASecond) {
  EXPECT_FALSE(IsInCharge(0.5));
  folder_.Write("in_charge", "1");
  EXPECT_FALSE(file_.IsInCharge("a", 0.5, now_us_ + kReadAgainUs - 1));
  EXPECT_TRUE(IsInCharge(0.5));
  folder_.Write("in_charge", "0");
  EXPECT_FALSE(IsInCharge(0.5));
  folder_.Write("in_charge", "1\na");
  EXPECT_FALSE(IsInCharge(0.5));
  EXPECT_TRUE(IsInCharge(0.5, "b"));
  std::filesystem::remove(folder_.in_charge());
  EXPECT_FALSE(IsInCharge(0.5, "b"));
}

TEST_F(ControlFileTest, AWrongFileChangesNothing) {
  folder_.Write("in_charge", "0.5");
  EXPECT_TRUE(IsInCharge(0.4));
  for (const std::string& wrong : {std::string("half"), std::string("1.5"), std::string("-0.1"), std::string("nan"),
                                   std::string("0.1 0.2"), std::string(), std::string(2 << 20, '1')}) {
    folder_.Write("in_charge", wrong);
    EXPECT_TRUE(IsInCharge(0.4)) << wrong.substr(0, 20);
  }
  folder_.Write("in_charge", "0.3");
  EXPECT_FALSE(IsInCharge(0.4));
}

TEST_F(ControlFileTest, APipeIsNotRead) {
  ASSERT_EQ(mkfifo(folder_.in_charge().c_str(), 0600), 0);
  EXPECT_FALSE(IsInCharge(0));
}

}  // namespace
}  // namespace weir::mediasoup
