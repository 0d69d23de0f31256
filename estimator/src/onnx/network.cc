#include "onnx/network.h"

#include <algorithm>
#include <utility>

namespace weir::internal {

// Its own part of what a network needs to run: the workspace.
class Network::Session final : public ModelSession {
 public:
  explicit Session(const Network& network) : network_(network), workspace_(network.plan_.workspace_size) {}

  std::span<float> input(size_t index) override {
    const Operand& operand = network_.plan_.input_operands[index];
    return {workspace_.data() + operand.offset, operand.size};
  }
  std::span<const float> output(size_t index) const override {
    const Operand& operand = network_.plan_.output_operands[index];
    return {workspace_.data() + operand.offset, operand.size};
  }
  std::optional<Error> Run() override {
    RunSteps(network_.plan_.steps, network_.constants_.data(), workspace_.data());
    return std::nullopt;
  }

 private:
  const Network& network_;
  AlignedFloats workspace_;
};

Network::Network(NetworkPlan plan) : plan_(std::move(plan)), constants_(plan_.constants.size()) {
  std::ranges::copy(plan_.constants, constants_.data());
  std::vector<float>().swap(plan_.constants);
}

Result<std::unique_ptr<ModelSession>> Network::MakeSession() const {
  return std::unique_ptr<ModelSession>(std::make_unique<Session>(*this));
}

}  // namespace weir::internal
