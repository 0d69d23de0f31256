#include "policy/mmsys_features.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace weir {
namespace {

constexpr double kReferenceDelayMs = 200;

double Milliseconds(TimeDelta duration) { return static_cast<double>(duration.us()) * 1e-3; }

double Ratio(double numerator, double denominator) { return denominator > 0 ? numerator / denominator : 0; }

}  // namespace

void MmsysFeatures::Sums::Add(const Sums& other) {
  if (other.delay_packets > 0) {
    min_queueing_delay_ms =
        delay_packets > 0 ? std::min(min_queueing_delay_ms, other.min_queueing_delay_ms) : other.min_queueing_delay_ms;
  }
  duration_s += other.duration_s;
  packets += other.packets;
  bytes += other.bytes;
  delay_packets += other.delay_packets;
  queueing_delay_ms += other.queueing_delay_ms;
  gaps += other.gaps;
  gap_ms += other.gap_ms;
  gap_squared_ms2 += other.gap_squared_ms2;
  lost += other.lost;
  losses += other.losses;
  video += other.video;
  audio += other.audio;
  probe += other.probe;
}

void MmsysFeatures::OnArrival(const Arrival& arrival) {
  Sums packet;
  packet.packets = 1;
  packet.bytes = static_cast<double>(arrival.packet.size().bytes());
  if (arrival.has_delay) {
    packet.delay_packets = 1;
    packet.queueing_delay_ms = packet.min_queueing_delay_ms = Milliseconds(arrival.queueing_delay);
  }
  if (last_arrival_.IsFinite() && arrival.packet.arrival_time >= last_arrival_) {
    packet.gaps = 1;
    packet.gap_ms = Milliseconds(arrival.packet.arrival_time - last_arrival_);
    packet.gap_squared_ms2 = packet.gap_ms * packet.gap_ms;
  }
  last_arrival_ = arrival.packet.arrival_time;
  packet.lost = arrival.lost_change;
  packet.losses = arrival.lost_change > 0 ? 1 : 0;
  packet.video = arrival.packet.kind == PacketKind::kVideo || arrival.packet.kind == PacketKind::kRetransmission;
  packet.audio = arrival.packet.kind == PacketKind::kAudio;
  packet.probe = arrival.packet.kind == PacketKind::kProbe;
  current_.Add(packet);
}

void MmsysFeatures::OnRoundTripTime(TimeDelta round_trip_time) {
  if (!round_trip_time.IsFinite() || round_trip_time <= TimeDelta::Zero()) return;
  base_delay_ms_ = Milliseconds(round_trip_time) / 2;
}

void MmsysFeatures::EndInterval(Timestamp now) {
  const bool started = interval_start_.IsFinite() && now > interval_start_;
  current_.duration_s = (started ? now - interval_start_ : kShortInterval).seconds();
  interval_start_ = now;
  ring_[next_] = current_;
  next_ = (next_ + 1) % kRing;
  current_ = Sums();
}

std::array<double, MmsysFeatures::kFeatures> MmsysFeatures::Features(const Sums& sums) const {
  std::array<double, kFeatures> f{};
  f[0] = Ratio(8 * sums.bytes, sums.duration_s);
  f[1] = sums.packets;
  f[2] = sums.bytes;
  if (sums.delay_packets > 0) {
    const double queueing_delay_ms = sums.queueing_delay_ms / sums.delay_packets;
    const double delay_ms = base_delay_ms_ + queueing_delay_ms;
    const double min_delay_ms = base_delay_ms_ + sums.min_queueing_delay_ms;
    f[3] = queueing_delay_ms;
    f[4] = delay_ms - kReferenceDelayMs;
    f[6] = delay_ms / min_delay_ms;
    f[7] = delay_ms - min_delay_ms;
  }
  f[5] = base_delay_ms_;
  if (sums.gaps > 0) {
    f[8] = sums.gap_ms / sums.gaps;
    f[9] = std::sqrt(std::max(0.0, sums.gap_squared_ms2 / sums.gaps - f[8] * f[8]));
  }
  const double lost = std::max(0.0, sums.lost);
  f[10] = Ratio(lost, lost + sums.packets);
  f[11] = Ratio(lost, sums.losses);
  f[12] = Ratio(sums.video, sums.packets);
  f[13] = Ratio(sums.audio, sums.packets);
  f[14] = Ratio(sums.probe, sums.packets);
  return f;
}

void MmsysFeatures::Clear() {
  current_ = Sums();
  ring_.fill(Sums());
  last_arrival_ = Timestamp::MinusInfinity();
}

void MmsysFeatures::Write(std::span<float> observation) const {
  assert(observation.size() == kObservationSize);
  for (size_t k = 0; k < kIntervals; ++k) {
    Sums long_interval;
    for (size_t i = 0; i < kShortPerLong; ++i) long_interval.Add(Newest(k * kShortPerLong + i));
    const auto short_features = Features(Newest(k));
    const auto long_features = Features(long_interval);
    for (size_t f = 0; f < kFeatures; ++f) {
      observation[10 * f + k] = static_cast<float>(short_features[f]);
      observation[10 * f + kIntervals + k] = static_cast<float>(long_features[f]);
    }
  }
}

}  // namespace weir
