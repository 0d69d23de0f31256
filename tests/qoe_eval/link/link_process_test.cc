// Options of `weir-sim link`: accepted, or refused with a message that names the fault.
#include "link_process.h"

#include <gtest/gtest.h>

#include "program/input.h"

namespace weir::sim {
namespace {

std::string ErrorOf(std::string_view line) {
  try {
    ParseLinkCommand(line);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LinkControlTest, Commands) {
  EXPECT_TRUE(std::holds_alternative<StartCommand>(ParseLinkCommand(R"({"type":"start"})")));
  EXPECT_TRUE(std::holds_alternative<StopCommand>(ParseLinkCommand(R"( {"type": "stop"} )")));
  const LinkCommand down = ParseLinkCommand(R"({"type":"down","duration_s":2.5})");
  ASSERT_TRUE(std::holds_alternative<DownCommand>(down));
  EXPECT_EQ(std::get<DownCommand>(down).duration_ns, 2'500'000'000);
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
