#include "media/audio_buffer.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {
namespace {

constexpr SimDuration kWindow = SimDuration::Seconds(2);
constexpr SimDuration kInterval = SimDuration::Millis(500);
constexpr double kBinMs = 20;
constexpr double kFirstTargetMs = 80;
constexpr double kMemory = 0.983;
constexpr double kFirstWeight = 2;
constexpr double kGranularityMs = 20;
// Fitted to virtual calls, whose audio is silent: the share of time by which audio is stretched or shortened.
constexpr double kStretch = 0.06;
constexpr double kPacketMs = 20;
// NetEq drops all of its packets when it has 200.
constexpr double kMostBufferedMs = 200 * kPacketMs;

}  // namespace

AudioBuffer::AudioBuffer(double quantile) : quantile_(quantile), target_ms_(kFirstTargetMs) {
  for (size_t bin = 0; bin < histogram_.size(); ++bin) histogram_[bin] = std::ldexp(1.0, -static_cast<int>(bin) - 1);
}

void AudioBuffer::OnPacket(SimTime capture_time, SimTime arrival_time) {
  const double latency_ms = ToMilliseconds(arrival_time - capture_time);
  UpdateTarget(DelayMs({capture_time, latency_ms}), arrival_time);
  const double low_ms = fastest_.front().latency_ms + std::max(target_ms_, minimum_ms_);
  const double high_ms = low_ms + slowest_.front().latency_ms - fastest_.front().latency_ms + kGranularityMs;
  if (last_arrival_ == kNever) {
    playing_latency_ms_ = low_ms;
  } else {
    const double step_ms = kStretch * ToMilliseconds(arrival_time - last_arrival_);
    const double change_ms = std::clamp(playing_latency_ms_, low_ms, high_ms) - playing_latency_ms_;
    playing_latency_ms_ += std::clamp(change_ms, -step_ms, step_ms);
  }
  playing_latency_ms_ = std::max(playing_latency_ms_, latency_ms);
  if (playing_latency_ms_ - latency_ms > kMostBufferedMs) playing_latency_ms_ = low_ms;
  last_arrival_ = arrival_time;
}

double AudioBuffer::LatencyMs() const { return playing_latency_ms_ + kPacketMs; }

double AudioBuffer::DelayMs(const Packet& packet) {
  for (std::deque<Packet>* packets : {&fastest_, &slowest_}) {
    while (!packets->empty() && packet.capture_time - packets->front().capture_time > kWindow) packets->pop_front();
  }
  while (!fastest_.empty() && fastest_.back().latency_ms >= packet.latency_ms) fastest_.pop_back();
  while (!slowest_.empty() && slowest_.back().latency_ms <= packet.latency_ms) slowest_.pop_back();
  fastest_.push_back(packet);
  slowest_.push_back(packet);
  return packet.latency_ms - fastest_.front().latency_ms;
}

void AudioBuffer::UpdateTarget(double delay_ms, SimTime now) {
  if (interval_start_ == kNever) interval_start_ = now;
  if (now - interval_start_ > kInterval) {
    AddToHistogram(interval_max_ms_);
    interval_start_ = now;
    interval_max_ms_ = 0;
  }
  interval_max_ms_ = std::max(interval_max_ms_, delay_ms);
}

void AudioBuffer::AddToHistogram(double delay_ms) {
  const auto added = static_cast<size_t>(delay_ms / kBinMs);
  if (added >= histogram_.size()) return;
  const double memory = std::clamp(1 - kFirstWeight / (samples_ + 1), 0.0, kMemory);
  ++samples_;
  for (double& share : histogram_) share *= memory;
  histogram_[added] += 1 - memory;
  size_t bin = 0;
  for (double above = 1 - histogram_[0]; above > 1 - quantile_ && bin + 1 < histogram_.size();)
    above -= histogram_[++bin];
  target_ms_ = kBinMs * static_cast<double>(bin + 1);
}

}  // namespace weir::sim
