// The inputs that determine a simulation: scenario, controllers, seed.
#ifndef WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_
#define WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "endpoints/agent.h"
#include "endpoints/decision_delay.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "programs/json.h"
#include "scenario/scenario.h"
#include "weir/controllers.h"
#include "weir/guard.h"
#include "weir/objective.h"

namespace weir::sim {

// A model file, read once, and loaded once for all flows and runs that use it.
class ModelFile {
 public:
  // Throws ProgramError if the file cannot be read.
  explicit ModelFile(const std::string& path) : path_(path), bytes_(ReadInputFile(path, "model")) {}

  // Loads the model at the first call. Throws ProgramError if the model cannot be used.
  std::shared_ptr<const PolicyModel> Load() {
    if (model_) return model_;
    model_ = OrThrow(PolicyModel::Load(std::as_bytes(std::span(bytes_))), path_ + ": ");
    bytes_ = {};
    return model_;
  }

 private:
  std::string path_;
  // Empty once the model is loaded.
  std::string bytes_;
  std::shared_ptr<const PolicyModel> model_;
};

// A custom policy: a model with its own name.
struct CustomPolicy {
  std::string model_path;
  // The file at `model_path`; set when a flow is made.
  std::shared_ptr<ModelFile> model;
  // Without the guard, only finiteness and bounds of the model's output are enforced.
  bool guard = true;
};

// The media of a virtual call. A scenario has only their rates and times.
struct CallMedia {
  enum class Encoder : uint8_t { kVp8, kVp9, kFake };
  // kFake: frames with the sizes of VP8's, without pictures.
  Encoder encoder = Encoder::kVp8;
  int width = 640;
  int height = 360;
  // YUV4MPEG2, at 30 frames per second; empty: a generated picture.
  std::string video;
  // Folder for the rendered video and played audio of each flow under test: N.y4m, N.y4m.jsonl and N.wav, where N is
  // the flow's place in the scenario. With a folder, calls decode, and their audio is `speech` in Opus.
  std::string received;
  // WAV, 16 bits, mono, 48 kHz; empty: pulses of noise.
  std::string speech;
  // The sender is a weir-peer, which the receiver recognizes by its offer. Else it is like Chromium, whose limit is the
  // encoder's.
  bool native_sender = false;
  // Repair of losses with Weir at one end: chosen by a RepairPolicy, without FEC, or with the FEC of libwebrtc's table.
  enum class Repair : uint8_t { kAdaptive, kNack, kFec };
  Repair repair = Repair::kAdaptive;
  // The playout delay, limited with Weir at one end, in all calls or in none. Weir at the sender limits that of video
  // by MaxPlayoutDelay() of the receiver's reports, with the header extension; else the receiver limits its own.
  enum class Playout : uint8_t { kAdaptive, kLimited, kUnlimited };
  Playout playout = Playout::kAdaptive;
  // A room: each flow is the downlink of an SFU to a subscriber of all publishers, in simulcast. Without publishers,
  // each flow is a call between two peers.
  struct Room {
    int cameras = 0;
    int screens = 0;
    // The rules by which the SFU selects layers; nullopt: Weir's with an estimator of Weir, else mediasoup's.
    enum class Allocation : uint8_t { kWeir, kMediasoup, kLivekit };
    std::optional<Allocation> allocation = std::nullopt;

    int publishers() const { return cameras + screens; }
  };
  Room room = {};
};

struct SimulationJob {
  Scenario scenario;
  // Controller and objective of flows "under_test"; a flow's own objective takes precedence.
  std::string controller = "rule";
  std::optional<Objective> objective;
  uint64_t seed = 1;
  // The model of the controller "weir"; empty if there is none.
  std::string model_path;
  // The file at `model_path`; set when the job is run.
  std::shared_ptr<ModelFile> model;
  // The custom controller that is named `controller`; null for all others.
  const CustomControllerSpecification* custom = nullptr;
  // The factory of `external`; set when `external` is.
  CustomControllers* custom_controllers = nullptr;
  // The custom policy that is named `controller`.
  std::optional<CustomPolicy> custom_policy;
  // The agent controls the first flow under test, and the others run "rule". Null without an agent.
  const AgentSpecification* agent = nullptr;
  bool agent_guard = false;
  // The rules of every flow with a guard except the agent's.
  GuardOptions guard_rules = {};
  // The delay of all policies and the agent.
  DecisionDelay decision_delay = {};
  // For virtual calls.
  CallMedia call = {};

  // The seed of all random streams. Scenarios with the same `seed` are independent, except that NAME-without-TROUBLE
  // has the randomness of NAME, as in traces/weir_traces/schema/variation.py.
  uint64_t random_seed() const {
    const std::string_view name = std::string_view(scenario.name).substr(0, scenario.name.find("-without-"));
    // FNV-1a.
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return seed + hash;
  }
};

// Parses the parts of a request that `run` and `serve` share: `scenario`, `objective`, `seed`, `decision_delay_ms`,
// `call`. Throws ProgramError.
SimulationJob ParseJob(JsonObject& request);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_SIMULATION_JOB_H_
