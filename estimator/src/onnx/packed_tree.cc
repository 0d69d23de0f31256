#include "onnx/packed_tree.h"

#include <algorithm>

namespace weir::internal {
namespace {

// The place of `answer` among the levels, where it may become the last; nothing when they are full.
std::optional<uint8_t> LevelOf(float answer, std::vector<float>& levels) {
  const auto found = std::ranges::find(levels, answer);
  if (found == levels.end() && levels.size() == TreeSplit::kMaxLevels) return std::nullopt;
  const auto level = static_cast<uint8_t>(found - levels.begin());
  if (found == levels.end()) levels.push_back(answer);
  return level;
}

}  // namespace

std::optional<PackedTree> PackTree(const OnnxTree& tree) {
  PackedTree packed;
  // Splits that are still to come, the next one last, and for those above a threshold whose it is.
  struct Pending {
    uint32_t node;
    std::optional<size_t> above;
  };
  std::vector<Pending> pending{{0, std::nullopt}};
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    const OnnxTree::Node& node = tree.nodes[next.node];
    const size_t place = packed.splits.size();
    if (place == TreeSplit::kFirstLeaf || node.feature > UINT8_MAX) return std::nullopt;
    if (next.above) packed.splits[*next.above].higher = static_cast<uint16_t>(place);
    TreeSplit& split = packed.splits.emplace_back();
    split.threshold = node.number;
    split.feature = static_cast<uint8_t>(node.feature);
    const OnnxTree::Node& lower = tree.nodes[node.if_at_most];
    const OnnxTree::Node& higher = tree.nodes[node.otherwise];
    if (higher.is_leaf) {
      const std::optional<uint8_t> level = LevelOf(higher.number, packed.levels);
      if (!level) return std::nullopt;
      split.higher = TreeSplit::kFirstLeaf | *level;
    } else {
      pending.push_back({node.otherwise, place});
    }
    if (lower.is_leaf) {
      const std::optional<uint8_t> level = LevelOf(lower.number, packed.levels);
      if (!level) return std::nullopt;
      split.lower = *level;
    } else {
      pending.push_back({node.if_at_most, std::nullopt});
    }
  }
  return packed;
}

size_t FindLevel(std::span<const TreeSplit> splits, const float* features) {
  for (size_t place = 0;;) {
    const TreeSplit& split = splits[place];
    if (features[split.feature] <= split.threshold) {
      if (split.lower != TreeSplit::kNext) return split.lower;
      ++place;
    } else {
      if (split.higher >= TreeSplit::kFirstLeaf) return split.higher - TreeSplit::kFirstLeaf;
      place = split.higher;
    }
  }
}

}  // namespace weir::internal
