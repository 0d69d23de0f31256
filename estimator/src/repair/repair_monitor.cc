#include "weir/repair_monitor.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

// A wider gap is a new beginning of the stream, or an outage.
constexpr uint16_t kWidestGap = 100;
// Longer than jitter, and shorter than the time after which libwebrtc requests a packet again.
constexpr TimeDelta kSecondRequest = TimeDelta::Millis(50);
// A packet that is still missing after this time does not come.
constexpr TimeDelta kLongestWait = TimeDelta::Millis(600);
constexpr TimeDelta kCountTime = TimeDelta::Seconds(5);
constexpr size_t kFewestRepairs = 3;
// Second requests that chance may add.
constexpr double kByChance = 4;
// A smaller number of lost packets is none.
constexpr double kLeastLost = 0.05;

}  // namespace

RepairMonitor::Stream& RepairMonitor::StreamOf(uint32_t ssrc) {
  Stream* oldest = &streams_[0];
  for (Stream& stream : streams_) {
    if (stream.started && stream.ssrc == ssrc) return stream;
    if (stream.last_packet < oldest->last_packet) oldest = &stream;
  }
  *oldest = {};
  oldest->ssrc = ssrc;
  return *oldest;
}

void RepairMonitor::OnPacket(uint32_t ssrc, uint16_t sequence_number, Timestamp now) {
  Stream& stream = StreamOf(ssrc);
  stream.last_packet = now;
  counts_.packets += 1;
  const auto step = static_cast<uint16_t>(sequence_number - stream.latest);
  const bool is_late = step > 0x10000 - kWidestGap;
  if (!stream.started || (step > kWidestGap && !is_late)) {
    stream.started = true;
    stream.latest = sequence_number;
  } else if (is_late) {
    Loss* const loss = Find(sequence_number);
    if (loss == nullptr) return;
    loss->waits = false;
    counts_.lost = std::max(0.0, counts_.lost - 1);
  } else {
    for (uint16_t i = 1; i < step; ++i) AddLoss(static_cast<uint16_t>(stream.latest + i), now);
    stream.latest = sequence_number;
  }
}

void RepairMonitor::AddLoss(uint16_t sequence_number, Timestamp now) {
  counts_.packets += 1;
  counts_.lost += 1;
  Loss& loss = losses_[next_loss_++ % losses_.size()];
  loss.waits = true;
  loss.sequence_number = sequence_number;
  loss.time = now;
}

RepairMonitor::Loss* RepairMonitor::Find(uint16_t sequence_number) {
  for (size_t i = 1; i <= losses_.size(); ++i) {
    Loss& loss = losses_[(next_loss_ + losses_.size() - i) % losses_.size()];
    if (loss.waits && loss.sequence_number == sequence_number) return &loss;
  }
  return nullptr;
}

void RepairMonitor::OnRetransmission(uint16_t original_sequence_number, Timestamp now) {
  Loss* const loss = Find(original_sequence_number);
  if (loss == nullptr) return;
  loss->waits = false;
  const TimeDelta time = now - loss->time;
  const std::optional<TimeDelta> usual = RepairTime();
  repair_times_us_[repairs_++ % repair_times_us_.size()] = time.us();
  if (!usual) return;
  counts_.requested += 1;
  if (time > *usual + kSecondRequest) counts_.repeated += 1;
}

std::optional<TimeDelta> RepairMonitor::RepairTime() const {
  if (repairs_ < kFewestRepairs) return std::nullopt;
  auto sorted = repair_times_us_;
  const size_t count = std::min(repairs_, sorted.size());
  const auto median = sorted.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), median, sorted.begin() + static_cast<ptrdiff_t>(count));
  return TimeDelta::Micros(*median);
}

double RepairMonitor::LossRatio() const {
  return counts_.lost < kLeastLost ? 0 : std::min(1.0, counts_.lost / counts_.packets);
}

RepairObservation RepairMonitor::Observe(Timestamp now, Repair in_force) {
  for (Loss& loss : losses_) {
    if (!loss.waits || now <= loss.time + kLongestWait) continue;
    loss.waits = false;
    if (in_force == Repair::kFec) continue;
    counts_.requested += 1;
    counts_.repeated += 1;
  }
  RepairObservation observation;
  observation.at_time = now;
  observation.repair_time = RepairTime();
  observation.loss_ratio = LossRatio();
  const double by_loss = counts_.requested * observation.loss_ratio;
  if (counts_.repeated > by_loss + kByChance)
    observation.nack_loss_ratio = (counts_.repeated - by_loss) / counts_.requested;
  const double factor = observed_.IsFinite() && now > observed_ ? std::exp((observed_ - now) / kCountTime) : 1;
  for (double* const count : {&counts_.packets, &counts_.lost, &counts_.requested, &counts_.repeated}) *count *= factor;
  observed_ = now;
  return observation;
}

}  // namespace weir
