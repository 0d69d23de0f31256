#include "onnx/onnx_tree.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::internal {
namespace {

// The error, or nothing.
using Objection = std::optional<Error>;

class TreeReader {
 public:
  TreeReader(const OnnxNode& node, int64_t features) : node_(node), features_(features) {}

  Result<OnnxTree> Read() {
    for (const auto check :
         {&TreeReader::CheckKind, &TreeReader::ReadNodes, &TreeReader::ReadChildren, &TreeReader::ReadAnswers}) {
      if (Objection objection = (this->*check)()) return *objection;
    }
    return std::move(tree_);
  }

 private:
  std::span<const int64_t> Integers(std::string_view name) const {
    const OnnxAttribute* attribute = node_.Attribute(name);
    return attribute == nullptr ? std::span<const int64_t>() : attribute->integers;
  }
  std::span<const float> Numbers(std::string_view name) const {
    const OnnxAttribute* attribute = node_.Attribute(name);
    return attribute == nullptr ? std::span<const float>() : attribute->numbers;
  }
  bool IsText(std::string_view name, std::string_view wanted) const {
    const OnnxAttribute* attribute = node_.Attribute(name);
    return attribute == nullptr || attribute->text == wanted;
  }
  // True for `count` zeros, the index of the only tree or target.
  bool AreZeros(std::string_view name, size_t count) const {
    const auto integers = Integers(name);
    return integers.size() == count && std::ranges::count(integers, 0) == std::ssize(integers);
  }

  Objection CheckKind() {
    if (node_.Integer("n_targets", 0) != 1) return Error{"has not one target"};
    if (!IsText("aggregate_function", "SUM") || !IsText("post_transform", "NONE"))
      return Error{"has another aggregate than SUM, or a transform"};
    return std::nullopt;
  }

  Objection ReadNodes() {
    const OnnxAttribute* modes = node_.Attribute("nodes_modes");
    const size_t count = modes == nullptr ? 0 : modes->texts.size();
    const auto ids = Integers("nodes_nodeids"), features = Integers("nodes_featureids");
    const auto thresholds = Numbers("nodes_values");
    if (ids.size() != count || features.size() != count || thresholds.size() != count)
      return Error{"has lists of nodes that differ in length"};
    if (!AreZeros("nodes_treeids", count)) return Error{"has more than one tree"};
    for (size_t i = 0; i < count; ++i) {
      const bool is_leaf = modes->texts[i] == "LEAF";
      if (!is_leaf && modes->texts[i] != "BRANCH_LEQ") return Error{"has nodes that are not BRANCH_LEQ or LEAF"};
      if (ids[i] != static_cast<int64_t>(i)) return Error{"has nodes that are not numbered by their places"};
      // Checked for leaves too, since ONNX Runtime checks all nodes.
      if (features[i] < 0 || features[i] >= features_) return Error{"has a feature that its input does not have"};
      if (!std::isfinite(thresholds[i])) return Error{"has a threshold that is not finite"};
      tree_.nodes.push_back(
          {.is_leaf = is_leaf, .feature = static_cast<uint32_t>(features[i]), .number = thresholds[i]});
    }
    return std::nullopt;
  }

  // Children follow their parents, so there is no cycle. Each node but the root has one parent, so there is one path to
  // each leaf.
  Objection ReadChildren() {
    const size_t count = tree_.nodes.size();
    const auto lower = Integers("nodes_truenodeids"), higher = Integers("nodes_falsenodeids");
    if (lower.size() != count || higher.size() != count) return Error{"has lists of nodes that differ in length"};
    // The level of each node: 1 for the root, 0 for a node that is not the child of a node before it.
    std::vector<int> levels(count);
    if (count > 0) levels[0] = 1;
    size_t parents = 0;
    for (size_t i = 0; i < count; ++i) {
      OnnxTree::Node& node = tree_.nodes[i];
      for (const int64_t child : {lower[i], higher[i]}) {
        if (node.is_leaf && child != 0) return Error{"has a leaf with a child"};
        if (node.is_leaf) continue;
        if (child <= static_cast<int64_t>(i) || child >= static_cast<int64_t>(count))
          return Error{"has a child that is not after its parent"};
        int& level = levels[static_cast<size_t>(child)];
        if (level != 0) return Error{"has a node with two parents"};
        level = levels[i] + 1;
        if (level > OnnxTree::kMaxLevels)
          return Error{"has more than " + std::to_string(OnnxTree::kMaxLevels) + " levels"};
        ++parents;
      }
      node.if_at_most = static_cast<uint32_t>(lower[i]);
      node.otherwise = static_cast<uint32_t>(higher[i]);
    }
    if (parents == 0) return Error{"has no split"};
    return parents + 1 == count ? Objection() : Error{"has a node without a parent"};
  }

  // Reads one answer for each leaf, in their order.
  Objection ReadAnswers() {
    const auto leaves = Integers("target_nodeids");
    const auto answers = Numbers("target_weights");
    if (answers.size() != leaves.size() || !AreZeros("target_ids", leaves.size()) ||
        !AreZeros("target_treeids", leaves.size()))
      return Error{"has lists of leaves that differ in length, or another target or tree than one"};
    size_t next = 0;
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (!tree_.nodes[i].is_leaf) continue;
      if (next == leaves.size() || leaves[next] != static_cast<int64_t>(i))
        return Error{"has leaves without an answer, or not in their order"};
      if (!std::isfinite(answers[next])) return Error{"has an answer that is not finite"};
      tree_.nodes[i].number = answers[next++];
    }
    return next == leaves.size() ? Objection() : Error{"has an answer of what is no leaf"};
  }

  const OnnxNode& node_;
  const int64_t features_;
  OnnxTree tree_;
};

// Returns the index of `answer` among the levels, to which it may be appended, or nothing if they are full.
std::optional<uint8_t> LevelOf(float answer, std::vector<float>& levels) {
  const auto found = std::ranges::find(levels, answer);
  if (found == levels.end() && levels.size() == TreeSplit::kMaxLevels) return std::nullopt;
  const auto level = static_cast<uint8_t>(found - levels.begin());
  if (found == levels.end()) levels.push_back(answer);
  return level;
}

}  // namespace

Result<OnnxTree> ReadOnnxTree(const OnnxNode& node, int64_t features) { return TreeReader(node, features).Read(); }

std::optional<PackedTree> PackTree(const OnnxTree& tree) {
  PackedTree packed;
  // Splits that remain to be packed, the next one last. For a split above a threshold, also its parent.
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
