// A scenario file (JSON, "weir.scenario/1") as structs: a bottleneck in each direction and the flows that share it.
// Times and delays are in ns, as ns-3 counts them.
#ifndef WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_H_
#define WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/piecewise_constant.h"
#include "program/input_error.h"
#include "scenario/capacity_trace.h"
#include "scenario/sender_clock.h"
#include "weir/objective.h"
#include "weir/pool_controller.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr std::string_view kScenarioSchema = "weir.scenario/1";
// The largest IP packet on a link, and the least that every queue holds.
inline constexpr int64_t kMaxPacketBytes = 1500;

struct QueueSpec {
  enum class Unit { kMilliseconds, kBytes, kPackets };
  Unit unit = Unit::kMilliseconds;
  // Milliseconds are of the mean capacity.
  double amount = 300.0;
};

enum class QueueDiscipline { kDropTail, kCodel };

struct LossSpec {
  enum class Kind { kNone, kBernoulli, kGilbertElliott, kPolicer };
  Kind kind = Kind::kNone;
  // Bernoulli.
  PiecewiseConstant<double> ratio = 0.0;
  // Gilbert-Elliott: probabilities of a change of state, per packet, and of loss in each state.
  double good_to_bad = 0.0;
  double bad_to_good = 0.0;
  double loss_good = 0.0;
  double loss_bad = 0.0;
  // Policer: a token bucket.
  int64_t rate_bps = 0;
  int64_t burst_bytes = 0;
};

struct JitterSpec {
  enum class Kind { kNone, kTruncatedGaussian, kUniform, kSlotted, kSpikes };
  Kind kind = Kind::kNone;
  // Truncated Gaussian.
  int64_t standard_deviation_ns = 0;
  // Truncated Gaussian, uniform.
  int64_t maximum_ns = 0;
  // Truncated Gaussian.
  bool reorder = false;
  // Slotted: between the ends of slots. Uniform: how long a delay that was drawn holds, 0 for one packet.
  int64_t interval_ns = 0;
  // Spikes: from the end of one to the start of the next, exponential; their lengths, uniform.
  double gap_mean_s = 0.0;
  int64_t shortest_ns = 0;
  int64_t longest_ns = 0;
};

struct LinkSpec {
  // Nothing: unlimited, with neither serialisation delay nor queue.
  std::optional<CapacityTrace> capacity;
  PiecewiseConstant<int64_t> one_way_delay_ns = 25'000'000;
  QueueSpec queue;
  QueueDiscipline queue_discipline = QueueDiscipline::kDropTail;
  LossSpec loss;
  JitterSpec jitter;

  // What goes through of a rate in the long run: not more than a policer lets through. Its bucket, which goes through
  // once, does not count.
  double PolicedBps(double bps) const {
    return loss.kind == LossSpec::Kind::kPolicer ? std::min(bps, static_cast<double>(loss.rate_bps)) : bps;
  }
};

inline constexpr DataRate kVideoMaxRate = DataRate::BitsPerSecond(2'500'000);

struct MediaSpec {
  enum class Kind { kFiller, kVideo };
  Kind kind = Kind::kFiller;
  // Filler: of everything. Video: of the encoder, audio apart; kVideoMaxRate unless the file says otherwise.
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  // Video only.
  double frames_per_second = 30.0;
  int64_t key_frame_interval_ns = 10'000'000'000;
  DataRate audio_rate = DataRate::BitsPerSecond(32'000);
  double audio_packets_per_second = 50.0;
  // From and to, in order and apart; only audio is sent in them.
  std::vector<std::pair<int64_t, int64_t>> video_pauses_ns;
  double minimum_output_share = 1.0;
  double stall_probability = 0.0;
  double rise_time_constant_s = 0.0;
  double fall_time_constant_s = 0.0;
  // Zero: the first target.
  DataRate initial_rate = DataRate::Zero();
};

// Each kind of flow has its name (weir/registry/flow_kinds.h), and the id of a flow without one.
struct RtpSpec {
  static constexpr std::string_view kKind = "rtp";
  static constexpr std::string_view kDefaultId = "media";
  // "under_test", or the name of one.
  std::string controller = "under_test";
  // Of the controller with a constant rate; nothing means half the mean forward capacity.
  std::optional<DataRate> fixed_rate;
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  DataRate start_rate = DataRate::KilobitsPerSecond(300);
  std::optional<Objective> objective;
  // From and to, in order and apart; nothing is sent in them.
  std::vector<std::pair<int64_t, int64_t>> pauses_ns;
  SenderClock sender_clock;
  MediaSpec media;
};

enum class TcpCongestionControl { kCubic, kBbr, kNewReno, kLinuxReno, kVegas, kCopa };
// By TcpCongestionControl, as files name them.
inline constexpr std::array<std::string_view, 6> kTcpCongestionControlNames{"cubic",      "bbr",   "newreno",
                                                                            "linux_reno", "vegas", "copa"};
constexpr std::string_view ToString(TcpCongestionControl kind) {
  return kTcpCongestionControlNames[static_cast<size_t>(kind)];
}

// Short transfers with idle times between them, after RFC 8867 section 5.7.
struct TcpTransfers {
  int64_t min_bytes = 30'000;
  int64_t max_bytes = 50'000;
  double idle_mean_s = 10.0;
  // Whether the flow starts with a transfer rather than with an idle time.
  bool start_on = true;
};

struct TcpSpec {
  static constexpr std::string_view kKind = "tcp";
  static constexpr std::string_view kDefaultId = "tcp";
  // With copilots, the pilot.
  TcpCongestionControl congestion_control = TcpCongestionControl::kCubic;
  // Nothing: one transfer without end.
  std::optional<TcpTransfers> transfers;
  // Other controls on the same connection, and what becomes of their windows: a kind that needs nothing else.
  std::vector<TcpCongestionControl> copilots = {};
  FusionKind fusion = FusionKind::kPilotOnly;
  // Whether all go on from what is fused.
  bool hands_back = true;
};

struct CbrSpec {
  static constexpr std::string_view kKind = "cbr";
  static constexpr std::string_view kDefaultId = "cross";
  DataRate rate = DataRate::KilobitsPerSecond(500);
  // Of the whole IP packet; the rate counts the same bytes.
  uint32_t packet_bytes = 1200;
};

using FlowKind = std::variant<RtpSpec, TcpSpec, CbrSpec>;

enum class Direction { kForward, kReverse };

struct FlowSpec {
  std::string id;
  Direction direction = Direction::kForward;
  int64_t start_ns = 0;
  // Never after the scenario's end; a flow that would start then or later never does.
  int64_t stop_ns = 0;
  // Of this flow's own access path, in each direction; RTP and TCP only.
  int64_t extra_one_way_delay_ns = 0;
  FlowKind kind;

  std::string_view kind_name() const {
    return std::visit([](const auto& spec) { return spec.kKind; }, kind);
  }
};

struct Scenario {
  std::string name;
  std::string description;
  TimeDelta duration = TimeDelta::Zero();
  LinkSpec forward;
  LinkSpec reverse;
  std::vector<FlowSpec> flows;

  int64_t duration_ns() const { return duration.us() * 1000; }
  const LinkSpec& link(Direction direction) const { return direction == Direction::kForward ? forward : reverse; }
};

// Throws InputError with the JSON path of what is unknown, missing or out of range.
Scenario ParseScenario(const nlohmann::json& document);

// The queue's bound in bytes, or in packets where the unit is packets; at least one full packet always fits.
// `link.capacity` must be there.
int64_t QueueLimit(const LinkSpec& link, int64_t duration_ns);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_H_
