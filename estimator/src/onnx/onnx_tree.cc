#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/onnx_inspection.h"

namespace weir::internal {
namespace {

// The error, or nothing.
using Objection = std::optional<Error>;

// Bounded because ONNX Runtime recurses once per level when it loads a tree.
constexpr int kMaxLevels = 128;

// Reads the attributes of a TreeEnsembleRegressor, which are lists with an entry for each node or each leaf.
class TreeInspector {
 public:
  TreeInspector(const OnnxNode& node, int64_t features)
      : node_(node), features_(features), modes_(Attribute("nodes_modes").texts) {}

  Result<int64_t> Inspect() const {
    for (const auto check : {&TreeInspector::CheckKind, &TreeInspector::CheckNodes, &TreeInspector::CheckChildren,
                             &TreeInspector::CheckAnswers}) {
      if (Objection objection = (this->*check)()) return *objection;
    }
    return std::ssize(modes_);
  }

 private:
  const OnnxAttribute& Attribute(std::string_view name) const {
    static const OnnxAttribute kNone;
    const OnnxAttribute* const attribute = node_.Attribute(name);
    return attribute == nullptr ? kNone : *attribute;
  }
  std::span<const int64_t> Integers(std::string_view name) const { return Attribute(name).integers; }
  std::span<const float> Numbers(std::string_view name) const { return Attribute(name).numbers; }
  bool IsText(std::string_view name, std::string_view wanted) const {
    const OnnxAttribute* const attribute = node_.Attribute(name);
    return attribute == nullptr || attribute->text == wanted;
  }
  // True for `count` zeros, the index of the only tree or target.
  bool AreZeros(std::string_view name, size_t count) const {
    const auto integers = Integers(name);
    return integers.size() == count && std::ranges::count(integers, 0) == std::ssize(integers);
  }
  bool IsLeaf(size_t node) const { return modes_[node] == "LEAF"; }

  Objection CheckKind() const {
    if (node_.Integer("n_targets", 0) != 1) return Error{"has not one target"};
    if (!IsText("aggregate_function", "SUM") || !IsText("post_transform", "NONE"))
      return Error{"has another aggregate than SUM, or a transform"};
    return std::nullopt;
  }

  Objection CheckNodes() const {
    const size_t count = modes_.size();
    const auto ids = Integers("nodes_nodeids"), features = Integers("nodes_featureids");
    const auto thresholds = Numbers("nodes_values");
    if (ids.size() != count || features.size() != count || thresholds.size() != count)
      return Error{"has lists of nodes that differ in length"};
    if (!AreZeros("nodes_treeids", count)) return Error{"has more than one tree"};
    for (size_t i = 0; i < count; ++i) {
      if (!IsLeaf(i) && modes_[i] != "BRANCH_LEQ") return Error{"has nodes that are not BRANCH_LEQ or LEAF"};
      if (ids[i] != static_cast<int64_t>(i)) return Error{"has nodes that are not numbered by their places"};
      // Checked for leaves too, since ONNX Runtime checks all nodes.
      if (features[i] < 0 || features[i] >= features_) return Error{"has a feature that its input does not have"};
      if (!std::isfinite(thresholds[i])) return Error{"has a threshold that is not finite"};
    }
    return std::nullopt;
  }

  // Children follow their parents, so there is no cycle. Each node but the root has one parent, so there is one path to
  // each leaf.
  Objection CheckChildren() const {
    const size_t count = modes_.size();
    const auto lower = Integers("nodes_truenodeids"), higher = Integers("nodes_falsenodeids");
    if (lower.size() != count || higher.size() != count) return Error{"has lists of nodes that differ in length"};
    // The level of each node: 1 for the root, 0 for a node that is not the child of a node before it.
    std::vector<int> levels(count);
    if (count > 0) levels[0] = 1;
    size_t parents = 0;
    for (size_t i = 0; i < count; ++i) {
      for (const int64_t child : {lower[i], higher[i]}) {
        if (IsLeaf(i) && child != 0) return Error{"has a leaf with a child"};
        if (IsLeaf(i)) continue;
        if (child <= static_cast<int64_t>(i) || child >= static_cast<int64_t>(count))
          return Error{"has a child that is not after its parent"};
        int& level = levels[static_cast<size_t>(child)];
        if (level != 0) return Error{"has a node with two parents"};
        level = levels[i] + 1;
        if (level > kMaxLevels) return Error{"has more than " + std::to_string(kMaxLevels) + " levels"};
        ++parents;
      }
    }
    if (parents == 0) return Error{"has no split"};
    return parents + 1 == count ? Objection() : Error{"has a node without a parent"};
  }

  // One finite answer for each leaf, in their order.
  Objection CheckAnswers() const {
    const auto leaves = Integers("target_nodeids");
    const auto answers = Numbers("target_weights");
    if (answers.size() != leaves.size() || !AreZeros("target_ids", leaves.size()) ||
        !AreZeros("target_treeids", leaves.size()))
      return Error{"has lists of leaves that differ in length, or another target or tree than one"};
    size_t next = 0;
    for (size_t i = 0; i < modes_.size(); ++i) {
      if (!IsLeaf(i)) continue;
      if (next == leaves.size() || leaves[next] != static_cast<int64_t>(i))
        return Error{"has leaves without an answer, or not in their order"};
      if (!std::isfinite(answers[next++])) return Error{"has an answer that is not finite"};
    }
    return next == leaves.size() ? Objection() : Error{"has an answer of a node that is no leaf"};
  }

  const OnnxNode& node_;
  const int64_t features_;
  const std::vector<std::string_view>& modes_;
};

}  // namespace

Result<int64_t> InspectOnnxTree(const OnnxNode& node, int64_t features) {
  return TreeInspector(node, features).Inspect();
}

}  // namespace weir::internal
