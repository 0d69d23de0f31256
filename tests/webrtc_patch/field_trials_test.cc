#include "field_trials.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(FieldTrialsTest, FollowTheNameOfAController) {
  EXPECT_EQ(WithoutFieldTrials("gcc:A/B/"), "gcc");
  EXPECT_EQ(WithoutFieldTrials("gcc"), "gcc");
  const auto trials = FieldTrialsOf("gcc:WebRTC-Bwe-LossBasedBweV2/Enabled:false/A/B,c:1.5|2/");
  ASSERT_TRUE(trials) << trials.error();
  EXPECT_EQ(ToString(trials.value()), "A/B,c:1.5|2/WebRTC-Bwe-LossBasedBweV2/Enabled:false/");
  EXPECT_TRUE(FieldTrialsOf("gcc").value().empty());
}

TEST(FieldTrialsTest, ScreamKeepsTheTrialThatMakesIt) {
  EXPECT_EQ(ToString(FieldTrialsOf("scream:A/B/").value()), "A/B/WebRTC-Bwe-ScreamV2/mode:always/");
  EXPECT_EQ(ToString(FieldTrialsOf("scream:WebRTC-Bwe-ScreamV2/mode:always,BetaLoss:0.8/").value()),
            "WebRTC-Bwe-ScreamV2/mode:always,BetaLoss:0.8/");
  EXPECT_FALSE(FieldTrialsOf("scream:WebRTC-Bwe-ScreamV2/Enabled/"));
}

TEST(FieldTrialsTest, RefusesWhatLibwebrtcWouldAbortOn) {
  for (const char* const text : {"A", "A/", "A/B", "/B/", "A//", "A/B/C", "A/B/A/C/", "A/B C/", "A/B=1/", "A/\"/"})
    EXPECT_FALSE(FieldTrialsOf("gcc:" + std::string(text))) << text;
  EXPECT_FALSE(FieldTrialsOf("nada:A/B/"));
  EXPECT_FALSE(FieldTrialsOf("gccc"));
}

}  // namespace
}  // namespace weir
