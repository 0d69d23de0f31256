#include "observe/connection_id.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace weir::observe {
namespace {

// plugins/pion/observe/observe_test.go has the same values.
TEST(ConnectionIdTest, TheShareOfAnIdentifierIsTheSameInEveryProgram) {
  for (const auto& [id, share] : {std::pair{std::string("PA_1"), 0.788968},
                                  {"call 7", 0.576163},
                                  {" \tPA_1\r\n", 0.788968},
                                  {"\u00a0caf\u00e9\u2003", 0.519768},
                                  {"b\xff"
                                   "c\xfe\xfe",
                                   0.090991},
                                  {std::string(300, 'a'), 0.011094},
                                  {std::string(255, 'a') + "\u00e9", 0.756668}}) {
    EXPECT_NEAR(ConnectionId(id).share(), share, 1e-6) << id;
  }
}

TEST(ConnectionIdTest, NormalizedIdsAreUtf8AndStayTheSame) {
  // Valid, then: a surrogate, an overlong character, one above U+10FFFF, one that is cut, and one that is not begun.
  for (const auto& [id, normalized] : {std::pair{std::string("\u20ac\U0001f600"), "\u20ac\U0001f600"},
                                       {"\xed\xa0\x80.", "?."},
                                       {"\xe0\x9f\xbf.", "?."},
                                       {"\xf0\x8f\xbf\xbf.", "?."},
                                       {"\xf4\x90\x80\x80.", "?."},
                                       {"\xc0\x80.", "?."},
                                       {"a\xe2\x82", "a?"},
                                       {"\x80z", "?z"},
                                       {" \u2028 ", ""}}) {
    EXPECT_EQ(NormalizedId(id), normalized);
    EXPECT_EQ(NormalizedId(NormalizedId(id)), normalized);
  }
}

TEST(ConnectionIdTest, RandomIdentifierReplacesAnEmptyOne) {
  const ConnectionId one(""), other(" \n");
  EXPECT_NE(one.text, "");
  EXPECT_NE(one.text, other.text);
  EXPECT_NE(one.hash, other.hash);
}

}  // namespace
}  // namespace weir::observe
