// One direction of a scenario's path: capacity, delay, queue, loss, jitter. Each part's Read() has a row for every key
// of the document; see PartReader.
#ifndef WEIR_SIMULATOR_SCENARIO_LINK_SPEC_H_
#define WEIR_SIMULATOR_SCENARIO_LINK_SPEC_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/piecewise_constant.h"
#include "core/sim_time.h"
#include "scenario/capacity_trace.h"

namespace weir::sim {

// The largest IP packet on a link, and the minimum size of every queue.
inline constexpr int64_t kMaxPacketBytes = 1500;

struct QueueSpec {
  enum class Unit { kMilliseconds, kBytes, kPackets };
  Unit unit = Unit::kMilliseconds;
  // Milliseconds refer to the mean capacity.
  double amount = 0;

  template <class Reader>
  void Read(Reader& read) {
    read.OneOf({"milliseconds", "bytes", "packets"}, unit, amount);
  }
};

enum class QueueDiscipline { kDropTail, kCodel, kDualPi2 };

struct LossSpec {
  enum class Kind { kNone, kBernoulli, kGilbertElliott, kPolicer };
  Kind kind = Kind::kNone;
  // Bernoulli.
  PiecewiseConstant<double> ratio = 0.0;
  // Gilbert-Elliott: per packet, the probability of each change of state, and of loss in each state.
  double good_to_bad = 0.0;
  double bad_to_good = 0.0;
  double loss_good = 0.0;
  double loss_bad = 0.0;
  // Policer: a token bucket.
  int64_t rate_bps = 0;
  int64_t burst_bytes = 0;

  template <class Reader>
  void Read(Reader& read) {
    read.Choice("kind", kind, {"none", "bernoulli", "gilbert_elliott", "policer"});
    if (kind == Kind::kBernoulli) {
      read.OverTime("ratio", "ratios", ratio);
    } else if (kind == Kind::kGilbertElliott) {
      read.Number("good_to_bad", good_to_bad);
      read.Number("bad_to_good", bad_to_good);
      read.Number("loss_good", loss_good);
      read.Number("loss_bad", loss_bad);
    } else if (kind == Kind::kPolicer) {
      read.Rate("rate_bps", rate_bps);
      // The policer counts nanobits.
      read.Integer("burst_bytes", burst_bytes, {.min = 0, .max = 1e9});
    }
  }
};

struct JitterSpec {
  enum class Kind { kNone, kTruncatedGaussian, kUniform, kSlotted, kSpikes };
  Kind kind = Kind::kNone;
  // Truncated Gaussian.
  SimDuration standard_deviation = SimDuration::Zero();
  // Truncated Gaussian, uniform.
  SimDuration maximum = SimDuration::Zero();
  // Truncated Gaussian.
  bool reorder = false;
  // Slotted: the time between the ends of slots. Uniform: how long one drawn delay applies, 0 for one packet.
  SimDuration interval = SimDuration::Zero();
  // Spikes: the mean of the gap between two, which is exponential; the range of the length, which is uniform.
  double gap_mean_s = 0.0;
  SimDuration shortest = SimDuration::Zero();
  SimDuration longest = SimDuration::Zero();

  template <class Reader>
  void Read(Reader& read) {
    // The minimum intervals and gaps keep the time to visit each short.
    read.Choice("kind", kind, {"none", "truncated_gaussian", "uniform", "slotted", "spikes"});
    if (kind == Kind::kTruncatedGaussian) {
      read.Milliseconds("standard_deviation_ms", standard_deviation);
      read.Milliseconds("maximum_ms", maximum);
      read.Flag("reorder", reorder);
    } else if (kind == Kind::kUniform) {
      read.Milliseconds("maximum_ms", maximum);
      if (read.Has("interval_ms")) read.Milliseconds("interval_ms", interval, {.min = 0.1, .max = 10'000});
    } else if (kind == Kind::kSlotted) {
      read.Milliseconds("interval_ms", interval, {.min = 0.1, .max = 10'000});
    } else if (kind == Kind::kSpikes) {
      read.Number("gap_mean_s", gap_mean_s, {.min = 0.1, .max = 86'400});
      read.Milliseconds("shortest_ms", shortest);
      read.Milliseconds("longest_ms", longest);
      if (longest < shortest) read.Refuse("longest_ms", "must be at least shortest_ms");
    }
  }
};

struct LinkSpec {
  // If empty, the link is unlimited, with neither serialization delay nor queue.
  std::optional<CapacityTrace> capacity;
  PiecewiseConstant<SimDuration> one_way_delay = SimDuration::Zero();
  QueueSpec queue;
  QueueDiscipline queue_discipline = QueueDiscipline::kDropTail;
  LossSpec loss;
  JitterSpec jitter;

  template <class Reader>
  void Read(Reader& read) {
    if (read.Has("capacity")) read.Capacity("capacity", capacity);
    read.DelayOverTime("one_way_delay_ms", one_way_delay);
    read.Object("queue", queue);
    read.Choice("queue_discipline", queue_discipline, {"drop_tail", "codel", "dualpi2"});
    read.Object("loss", loss);
    read.Object("jitter", jitter);
  }

  // The part of a rate that passes in the long run: at most the policer's rate. Ignores the burst, which passes once.
  double PolicedBps(double bps) const {
    return loss.kind == LossSpec::Kind::kPolicer ? std::min(bps, static_cast<double>(loss.rate_bps)) : bps;
  }
};

// The limit of the queue in bytes, or in packets if that is the unit; at least one full packet always fits.
// `link.capacity` must have a value.
int64_t QueueLimit(const LinkSpec& link, SimDuration duration);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_LINK_SPEC_H_
