#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "onnx/onnx_tree.h"

namespace weir::internal {
namespace {

OnnxTree::Node Leaf(float answer) { return {.is_leaf = true, .number = answer}; }
OnnxTree::Node Split(uint32_t feature, float threshold, uint32_t if_at_most, uint32_t otherwise) {
  return {.feature = feature, .if_at_most = if_at_most, .otherwise = otherwise, .number = threshold};
}

// x0 <= 1 ? (x1 <= 2 ? 10 : 20) : (x1 <= 3 ? 20 : 30), whose nodes are not in preorder.
const OnnxTree kFourLeaves{
    {Split(0, 1, 2, 1), Split(1, 3, 3, 4), Split(1, 2, 5, 6), Leaf(20), Leaf(30), Leaf(10), Leaf(20)}};

// So many splits by the same feature, each with a leaf on one side.
OnnxTree Chain(uint32_t splits, uint32_t feature, bool lower_is_leaf) {
  OnnxTree tree;
  for (uint32_t i = 0; i < splits; ++i) {
    const uint32_t leaf = 2 * i + 1, next = 2 * i + 2;
    tree.nodes.push_back(
        Split(feature, static_cast<float>(i), lower_is_leaf ? leaf : next, lower_is_leaf ? next : leaf));
    tree.nodes.push_back(Leaf(static_cast<float>(i)));
  }
  tree.nodes.push_back(Leaf(static_cast<float>(splits)));
  return tree;
}

TEST(PackedTreeTest, AnswersAsTheTreeDoes) {
  const auto packed = PackTree(kFourLeaves);
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->splits.size(), 3u);
  EXPECT_EQ(packed->levels.size(), 3u);
  const auto answer = [&](std::vector<float> x) { return packed->levels[FindLevel(packed->splits, x.data())]; };
  EXPECT_EQ(answer({0, 0}), 10);
  EXPECT_EQ(answer({0, 2.5f}), 20);
  EXPECT_EQ(answer({2, 0}), 20);
  EXPECT_EQ(answer({2, 4}), 30);
}

TEST(PackedTreeTest, AThresholdBelongsToWhatIsBelowAndNaNToWhatIsAbove) {
  const auto packed = PackTree(kFourLeaves);
  ASSERT_TRUE(packed);
  const auto answer = [&](std::vector<float> x) { return packed->levels[FindLevel(packed->splits, x.data())]; };
  EXPECT_EQ(answer({1, 2}), 10);
  EXPECT_EQ(answer({std::nextafter(1.0f, 2.0f), 3}), 20);
  EXPECT_EQ(answer({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()}), 30);
  EXPECT_EQ(answer({-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()}), 20);
}

TEST(PackedTreeTest, IsAsDeepAsItIs) {
  for (const bool lower_is_leaf : {false, true}) {
    const auto packed = PackTree(Chain(253, 7, lower_is_leaf));
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->levels.size(), TreeSplit::kMaxLevels);
    std::vector<float> x(8);
    for (const int wanted : {0, 1, 100, 252, 253}) {
      // Above all thresholds before it; or below all of those, of which the highest comes last.
      x[7] = static_cast<float>(wanted) - 0.5f;
      const float answer = packed->levels[FindLevel(packed->splits, x.data())];
      EXPECT_EQ(answer, lower_is_leaf ? static_cast<float>(wanted) : wanted == 0 ? 253 : 0);
    }
  }
}

TEST(PackedTreeTest, LeavesOutWhatDoesNotFit) {
  EXPECT_FALSE(PackTree(Chain(254, 0, true)));  // 255 answers
  EXPECT_TRUE(PackTree(Chain(1, 255, true)));
  EXPECT_FALSE(PackTree(Chain(1, 256, true)));
}

}  // namespace
}  // namespace weir::internal
