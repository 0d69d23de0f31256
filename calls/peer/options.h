// The command line of weir-peer.
#ifndef WEIR_CALLS_PEER_OPTIONS_H_
#define WEIR_CALLS_PEER_OPTIONS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "field_trials.h"
#include "frame_source.h"
#include "programs/custom_controllers.h"
#include "programs/sender_gcc.h"
#include "receive_side_switch.h"
#include "weir/network_types.h"
#include "weir/objective.h"

namespace weir::peer {

// kAdaptive: a RepairPolicy chooses. kNack: never. kFec: by libwebrtc's own table.
enum class RepairMode : uint8_t { kAdaptive, kNack, kFec };

struct Options {
  bool send = false;
  bool receive = false;
  // The controller at the receiver, and its counterpart at the sender.
  ReceiveSideMode controller = ReceiveSideMode::kWeir;
  // The controller of kSenderControllers that runs at the sender on transport feedback; `controller` is then
  // kGcc, and the receiver only sends feedback. Empty: none.
  std::string_view at_sender;
  // For kWeir; nullopt: the policy alone.
  std::optional<PoolAtBothEnds> pool;
  // For kWeir: the answer excludes transport-cc.
  bool remb_alone = false;
  // With Weir at one end: when losses are repaired by FEC, too.
  RepairMode repair = RepairMode::kAdaptive;
  // The receiver plays audio and video earlier: PlayoutFieldTrials().
  bool limit_playout = false;
  // Empty: the ten-line rule.
  std::string model;
  // Delay before a decision of the policy takes effect.
  TimeDelta decision_delay = TimeDelta::Zero();
  // Runs in place of the model.
  std::optional<CustomControllerSpecification> custom_controller;
  FieldTrials field_trials;
  Objective objective;
  TargetRateConstraints bitrate{.min_rate = DataRate::KilobitsPerSecond(30),
                                .start_rate = DataRate::KilobitsPerSecond(300),
                                .max_rate = DataRate::KilobitsPerSecond(20'000)};
  // "VP8" or "VP9".
  std::string codec = "VP8";
  // Empty: the pattern.
  std::string video;
  FrameFormat pattern{.width = 640, .height = 360, .frames_per_second = 30};
  bool audio = false;
  // Empty: pulses of quiet noise.
  std::string audio_file;
  // Empty: received frames are decoded and dropped.
  std::string frames;
  int frames_width = 0;
  int frames_height = 0;
  // Empty: received audio is discarded.
  std::string received_audio;
  int64_t stats_interval_ms = 1000;
  std::string bind_address = "127.0.0.1";
};

// Parsing `app` sets `options`, which must outlive it.
void AddOptions(CLI::App& app, Options& options);

// Throws ProgramError.
TargetRateConstraints MakeBitrate(int64_t min_bps, int64_t start_bps, int64_t max_bps);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_OPTIONS_H_
