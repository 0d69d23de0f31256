// What `weir-sim link` is told, and its arguments: accepted, or refused with a message that says what is wrong.
#include "realtime/link_control.h"

#include <gtest/gtest.h>

#include "core/input_error.h"
#include "run/arguments.h"

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
  EXPECT_NE(ErrorOf(std::string(100'000, '[')).find("not JSON"), std::string::npos);
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

TEST(ArgumentsTest, OptionsFlagsAndTheRest) {
  const Arguments arguments({"a", "--seed", "7", "--flag", "-", "--", "--seed"}, {"--flag"}, {"--seed", "--other"});
  EXPECT_EQ(arguments.positional(), (std::vector<std::string>{"a", "-", "--seed"}));
  EXPECT_TRUE(arguments.Has("--flag"));
  EXPECT_FALSE(arguments.Has("--other"));
  EXPECT_EQ(arguments.Get("--other", "x"), "x");
  EXPECT_EQ(arguments.GetInteger("--seed", 0, 10, 1), 7u);
  EXPECT_EQ(arguments.GetInteger("--other", 0, 10, 1), 1u);
  EXPECT_THROW(arguments.GetInteger("--seed", 8, 10, 1), InputError);
  EXPECT_THROW(arguments.Require("--other"), InputError);
  EXPECT_THROW(Arguments({"--unknown"}, {}, {}), InputError);
  EXPECT_THROW(Arguments({"--seed"}, {}, {"--seed"}), InputError);
  for (const char* text : {"", "-1", "1.5", "1x", " 1", "18446744073709551616"}) {
    const Arguments one({"--seed", text}, {}, {"--seed"});
    EXPECT_THROW(one.GetInteger("--seed", 0, UINT64_MAX, 1), InputError) << text;
  }
}

}  // namespace
}  // namespace weir::sim
