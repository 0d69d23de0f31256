#include "weir/repair_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace weir {
namespace {

constexpr TimeDelta kMemory = TimeDelta::Seconds(10);
constexpr TimeDelta kShortestFec = TimeDelta::Seconds(10);
constexpr TimeDelta kLongestFec = TimeDelta::Seconds(160);
constexpr TimeDelta kSoon = TimeDelta::Seconds(60);
constexpr double kHysteresis = 0.9;
constexpr DataRate kLowRate = DataRate::KilobitsPerSecond(150);
constexpr double kHighestNackLoss = 0.15;

// The longest repair time up to a loss ratio.
struct FastRepair {
  double loss_ratio;
  TimeDelta time;
};
constexpr FastRepair kFastRepairs[] = {
    {0.025, RepairPolicy::kSlowRepair}, {0.04, TimeDelta::Millis(125)}, {1, TimeDelta::Millis(100)}};

double Ratio(double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0; }

TimeDelta FastRepairTime(double loss_ratio) {
  return std::ranges::find_if(kFastRepairs, [&](const FastRepair& row) { return loss_ratio <= row.loss_ratio; })->time;
}

}  // namespace

std::string_view ToString(Repair repair) {
  constexpr std::array<std::string_view, 3> kNames{"none", "nack", "fec"};
  return kNames[static_cast<size_t>(repair)];
}

void RepairPolicy::StartFec(Timestamp now, bool nack_fails) {
  const bool soon = now < fec_until_ + kSoon;
  if (!soon) fec_time_ = kShortestFec;
  if (soon && nack_fails) fec_time_ = std::min(2.0 * fec_time_, kLongestFec);
  fec_until_ = now + fec_time_;
}

Repair RepairPolicy::Update(const RepairObservation& observation) {
  const Timestamp now = observation.at_time;
  if (now <= now_ || !IsTime(now)) return repair_;
  now_ = now;
  const double loss_ratio = Ratio(observation.loss_ratio);
  if (loss_ratio > 0) last_loss_ = now;
  if (now - last_loss_ > kMemory) return repair_ = Repair::kNone;
  if (now >= fec_until_) {
    if (observation.rate < kLowRate) return repair_ = Repair::kNack;
    const double factor = repair_ == Repair::kFec ? kHysteresis : 1;
    const bool nack_fails = Ratio(observation.nack_loss_ratio) >= factor * kHighestNackLoss;
    const std::optional<TimeDelta> time = observation.repair_time;
    const bool is_known = time && time->IsFinite() && *time > TimeDelta::Zero();
    if (!nack_fails && !is_known) return repair_ = Repair::kNone;
    if (!nack_fails && *time < factor * FastRepairTime(loss_ratio / factor)) return repair_ = Repair::kNack;
    StartFec(now, nack_fails);
  }
  return repair_ = Repair::kFec;
}

}  // namespace weir
