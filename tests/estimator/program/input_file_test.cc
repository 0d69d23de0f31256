#include "program/input.h"

#include <gtest/gtest.h>


namespace weir {
namespace {

TEST(InputFile, ReadingEnds) {
  for (const char* const path : {"/dev/zero", "/", "/nowhere"}) {
    EXPECT_THROW(ReadInputFile(path, "model"), InputError) << path;
  }
}

}  // namespace
}  // namespace weir
