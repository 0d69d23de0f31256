// A policy executor that reports each decision, and may vary its action so that a policy can be learned from calls.
#ifndef WEIR_WEBRTC_PATCH_PEER_RECORDING_EXECUTOR_H_
#define WEIR_WEBRTC_PATCH_PEER_RECORDING_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "policy/policy_executor.h"

namespace weir::peer {

class RecordingExecutor final : public PolicyExecutor {
 public:
  // Receives the line "decision": of the observation the newest interval, then the features of the path; the action of
  // the policy, and the one with noise that is executed, both null after a fault; "reset" where the history begins.
  using Write = std::function<void(nlohmann::ordered_json line)>;

  // `exploration`: standard deviation of normal noise on the action, of kRate on its logarithm; 0: none.
  RecordingExecutor(std::unique_ptr<PolicyExecutor> executor, double exploration, uint32_t seed, Write write);

  // True for models that it can record: of the format kWeir1, with one continuous action.
  static bool Takes(const ModelDescription& description);

  const ModelDescription& description() const override { return executor_->description(); }
  void Submit(std::span<const float> observation, const Objective& objective, Timestamp now) override;
  std::optional<PolicyAnswer> Take(Timestamp now) override;
  Timestamp next_timeout(Timestamp now) const override { return executor_->next_timeout(now); }
  void Reset() override;

 private:
  // Writes the decision in flight, if there is one.
  void Finish(nlohmann::ordered_json policy_action, nlohmann::ordered_json action);

  const std::unique_ptr<PolicyExecutor> executor_;
  const double exploration_;
  const Write write_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  bool reset_ = true;
  nlohmann::ordered_json line_;
  float action_ = 0;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RECORDING_EXECUTOR_H_
