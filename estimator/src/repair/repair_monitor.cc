#include "weir/repair_monitor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir {
namespace {

// A wider gap is a new beginning of the stream, or an outage.
constexpr uint16_t kWidestGap = 100;
// Longer than jitter, and shorter than the time after which libwebrtc requests a packet again.
constexpr TimeDelta kSecondRequest = TimeDelta::Millis(50);
// A packet that is still missing after this time does not come.
constexpr TimeDelta kLongestWait = TimeDelta::Millis(600);
// Until the sender follows a new session description.
constexpr TimeDelta kDescriptionTime = TimeDelta::Seconds(1);
constexpr TimeDelta kCountTime = TimeDelta::Seconds(5);
constexpr size_t kFewestRepairs = 3;
// Second requests that chance may add.
constexpr double kByChance = 4;
// A smaller number of lost packets is none.
constexpr double kLeastLost = 0.05;

}  // namespace

RepairMonitor::Stream& RepairMonitor::StreamOf(Streams& streams, uint32_t ssrc) {
  Stream* oldest = &streams[0];
  for (Stream& stream : streams) {
    if (stream.started && stream.ssrc == ssrc) return stream;
    if (stream.last_packet < oldest->last_packet) oldest = &stream;
  }
  *oldest = {};
  oldest->ssrc = ssrc;
  return *oldest;
}

int RepairMonitor::Advance(Stream& stream, uint16_t sequence_number, Timestamp now) {
  stream.last_packet = now;
  const auto step = static_cast<uint16_t>(sequence_number - stream.latest);
  const bool is_known = std::exchange(stream.started, true);
  if (is_known && (step == 0 || step > 0x10000 - kWidestGap)) return -1;
  stream.latest = sequence_number;
  return is_known && step <= kWidestGap ? step - 1 : 0;
}

void RepairMonitor::OnPacket(uint32_t ssrc, uint16_t sequence_number, Timestamp now) {
  counts_.packets += 1;
  const int missing = Advance(StreamOf(streams_, ssrc), sequence_number, now);
  for (int i = missing; i > 0; --i) AddLoss(static_cast<uint16_t>(sequence_number - i), now);
  if (missing >= 0) return;
  Loss* const loss = Find(sequence_number);
  if (loss == nullptr) return;
  loss->waits = false;
  counts_.lost = std::max(0.0, counts_.lost - 1);
}

void RepairMonitor::AddLoss(uint16_t sequence_number, Timestamp now) {
  counts_.packets += 1;
  counts_.lost += 1;
  Loss& loss = losses_[next_loss_++ % losses_.size()];
  loss.waits = !CameEarly(sequence_number);
  loss.sequence_number = sequence_number;
  loss.time = now;
}

bool RepairMonitor::CameEarly(uint16_t sequence_number) const {
  return std::ranges::find(early_, sequence_number) != early_.end();
}

RepairMonitor::Loss* RepairMonitor::Find(uint16_t sequence_number) {
  for (size_t i = 1; i <= losses_.size(); ++i) {
    Loss& loss = losses_[(next_loss_ + losses_.size() - i) % losses_.size()];
    if (loss.waits && loss.sequence_number == sequence_number) return &loss;
  }
  return nullptr;
}

void RepairMonitor::OnRetransmission(uint32_t ssrc, uint16_t sequence_number, std::span<const uint8_t> payload,
                                     Timestamp now) {
  const int missing = Advance(StreamOf(retransmission_streams_, ssrc), sequence_number, now);
  counts_.retransmissions += 1 + std::max(missing, 0);
  counts_.lost_retransmissions = std::max(0.0, counts_.lost_retransmissions + missing);
  if (payload.size() < 2) return;
  const auto original = static_cast<uint16_t>(payload[0] << 8 | payload[1]);
  Loss* const loss = Find(original);
  if (loss == nullptr) {
    early_[next_early_++ % early_.size()] = original;
    return;
  }
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
  if (in_force == Repair::kFec) last_fec_ = now;
  for (Loss& loss : losses_) {
    if (!loss.waits || now <= loss.time + kLongestWait) continue;
    loss.waits = false;
    if (loss.time <= last_fec_ + kDescriptionTime) continue;
    counts_.requested += 1;
    counts_.repeated += 1;
  }
  RepairObservation observation;
  observation.at_time = now;
  observation.repair_time = RepairTime();
  observation.loss_ratio = LossRatio();
  const double lost_answers = counts_.lost_retransmissions / std::max(1.0, counts_.retransmissions);
  const double by_loss = counts_.requested * std::max(observation.loss_ratio, std::min(1.0, lost_answers));
  if (counts_.repeated > by_loss + kByChance)
    observation.nack_loss_ratio = (counts_.repeated - by_loss) / counts_.requested;
  const double factor = observed_.IsFinite() && now > observed_ ? std::exp((observed_ - now) / kCountTime) : 1;
  for (double* const count : {&counts_.packets, &counts_.lost, &counts_.requested, &counts_.repeated,
                              &counts_.retransmissions, &counts_.lost_retransmissions})
    *count *= factor;
  observed_ = now;
  return observation;
}

}  // namespace weir
