// The inputs that determine a simulation: scenario, controllers, seed.
#ifndef WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_
#define WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "endpoints/agent.h"
#include "endpoints/decision_delay.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "scenario/scenario.h"
#include "weir/controllers.h"
#include "weir/guard.h"
#include "weir/objective.h"

namespace weir::sim {

// A model file, read once, and loaded once for all flows and runs that use it.
class ModelFile {
 public:
  // Throws ProgramError when it cannot be read.
  explicit ModelFile(const std::string& path) : path_(path), bytes_(ReadInputFile(path, "model")) {}

  // Loaded with the first call. Throws ProgramError when it cannot be used.
  std::shared_ptr<const PolicyModel> Load() {
    if (model_) return model_;
    model_ = OrThrow(PolicyModel::Load(std::as_bytes(std::span(bytes_))), path_ + ": ");
    bytes_ = {};
    return model_;
  }

 private:
  std::string path_;
  // Empty once it is loaded.
  std::string bytes_;
  std::shared_ptr<const PolicyModel> model_;
};

// A custom policy: a model of the user under a name of its own, beside the controller "weir".
struct CustomPolicy {
  std::string model_path;
  // The file at `model_path`; set when a flow is made.
  std::shared_ptr<ModelFile> model;
  // Without it the model is measured bare: only finiteness and bounds are kept.
  bool guard = true;
};

// The media of a virtual call, of which a scenario has only rates and times.
struct CallMedia {
  enum class Encoder : uint8_t { kVp8, kVp9, kFake };
  // kFake: frames with the sizes of VP8's, without pictures.
  Encoder encoder = Encoder::kVp8;
  int width = 640;
  int height = 360;
  // YUV4MPEG2, at 30 frames per second; empty: a generated picture.
  std::string video;
  // A folder for what the receiver of each flow under test renders and plays: N.y4m, N.y4m.jsonl and N.wav, N being the
  // flow's place in the scenario. These calls decode, and their audio is Opus of `speech`. Empty: they do neither.
  std::string received;
  // WAV, 16 bits, mono, 48 kHz; empty: pulses of noise.
  std::string speech;
  // The sender is a weir-peer, and the receiver learns so from its offer; else it is as Chromium, whose limit is the
  // encoder's.
  bool native_sender = false;
};

// The part "call" of a job. Throws ProgramError.
CallMedia ParseCallMedia(const nlohmann::json& value);

struct SimulationJob {
  Scenario scenario;
  // Controller and objective of flows "under_test"; a flow's own objective comes first.
  std::string controller = "rule";
  std::optional<Objective> objective;
  uint64_t seed = 1;
  // For the controller "weir"; empty: there is none.
  std::string model_path;
  // The file at `model_path`; set when the job is run.
  std::shared_ptr<ModelFile> model;
  // A custom controller, whose name is `controller`; null: one of those built in.
  const CustomControllerSpecification* custom = nullptr;
  // Starts `custom`; set when `custom` is.
  CustomControllers* custom_controllers = nullptr;
  // A custom policy, whose name is `controller`.
  std::optional<CustomPolicy> custom_policy;
  // With an agent: it has the first flow under test, and the others run "rule".
  const AgentSpecification* agent = nullptr;
  bool agent_guard = false;
  // For every flow with a guard, but for the agent's.
  GuardOptions guard_rules = {};
  // All policies and the agent have it.
  DecisionDelay decision_delay = {};
  // For virtual calls.
  CallMedia call = {};

  // For all random streams: the scenarios of a seed are independent. NAME-without-TROUBLE has the chance of NAME, as in
  // traces/schema/variation.py.
  uint64_t random_seed() const {
    const std::string_view name = std::string_view(scenario.name).substr(0, scenario.name.find("-without-"));
    // FNV-1a.
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return seed + hash;
  }
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_
