#include "endpoints/pacer.h"

#include <algorithm>

namespace weir::sim {
namespace {

// libwebrtc: the pacer speeds up when a packet would wait longer than this.
constexpr SimDuration kMaxQueueing = SimDuration::Seconds(2);
// libwebrtc, as in Chromium 150: the largest burst. Below some 10 Mbps a whole frame is one burst.
constexpr int64_t kMaxBurstBytes = 63'000;
// libwebrtc: a probe is sent in steps of twice what its rate carries in 2 ms, and counts steps, not packets. Only the
// total size is adopted; packets here are spaced evenly.
constexpr SimDuration kProbeStep = SimDuration::Millis(4);
// RTX padding repeats a whole old packet unless that exceeds three times the requested size; then plain padding is
// sent, at most 224 bytes.
constexpr int64_t kMaxPaddingSizeFactor = 3;
constexpr uint32_t kPlainPaddingBytes = 224;
// libwebrtc: the interval of packets while congested, which keep feedback coming.
constexpr SimDuration kCongestedPacketInterval = SimDuration::Millis(500);

int64_t BytesIn(SimDuration duration, int64_t rate_bps) {
  return static_cast<int64_t>(static_cast<__int128>(duration.ns()) * rate_bps / 8'000'000'000);
}

// When a debt that is paid off at `paid` at the old rate is paid off at the new rate.
SimTime Rescaled(SimTime paid, SimTime now, int64_t old_rate_bps, int64_t new_rate_bps) {
  if (paid <= now || old_rate_bps <= 0) return now;
  if (paid == kNever || new_rate_bps <= 0) return kNever;
  return now + SimDuration::Nanos(
                   static_cast<int64_t>(static_cast<__int128>((paid - now).ns()) * old_rate_bps / new_rate_bps));
}

MediaPacket RtxPadding() { return {.kind = PacketKind::kProbe, .payload_bytes = kMaxPayloadBytes}; }
MediaPacket PlainPadding() { return {.kind = PacketKind::kProbe, .padding_bytes = kPlainPaddingBytes}; }

}  // namespace

void Pacer::SetConfig(const PacerConfig& config, SimTime now) {
  const int64_t pacing_bps = std::max<int64_t>(0, config.pacing_rate.bps());
  const int64_t padding_bps = std::max<int64_t>(0, config.padding_rate.bps());
  if (pacing_bps != pacing_rate_bps_) media_paid_time_ = Rescaled(media_paid_time_, now, pacing_rate_bps_, pacing_bps);
  if (padding_bps != padding_rate_bps_) {
    padding_paid_time_ = Rescaled(padding_paid_time_, now, padding_rate_bps_, padding_bps);
  }
  pacing_rate_bps_ = pacing_bps;
  const SimDuration burst = ToSimDuration(config.burst_interval);
  burst_duration_ =
      pacing_bps > 0 ? std::min(burst, TransmissionTime(kMaxBurstBytes, pacing_bps)) : SimDuration::Zero();
  padding_rate_bps_ = padding_bps;
}

void Pacer::AddProbeCluster(const ProbeClusterConfig& config) {
  if (config.target_data_rate.bps() <= 0) return;
  ProbeCluster cluster;
  cluster.info.probe_cluster_id = config.id;
  cluster.info.probe_cluster_min_probes = config.target_probe_count;
  cluster.info.probe_cluster_min_size = config.target_data_rate * config.target_duration;
  cluster.info.send_rate = config.target_data_rate;
  cluster.bytes_to_send = std::max(cluster.info.probe_cluster_min_size.bytes(),
                                   config.target_probe_count * BytesIn(kProbeStep, config.target_data_rate.bps()));
  cluster.start_time = kNever;
  probes_.push_back(cluster);
}

void Pacer::SetActive(bool active) {
  active_ = active;
  if (!active) probes_.clear();
}

void Pacer::Enqueue(const MediaPacket& packet, SimTime now) {
  queued_bytes_ += packet.payload_bytes + overhead_bytes_;
  auto& queue = packet.kind == PacketKind::kAudio            ? audio_
                : packet.kind == PacketKind::kRetransmission ? retransmissions_
                                                             : media_;
  queue.push_back(QueuedPacket{packet, now});
}

SimTime Pacer::ProbeTime(SimTime now) const {
  const ProbeCluster& cluster = probes_.front();
  if (cluster.start_time == kNever) return now;
  return cluster.start_time +
         TransmissionTime(cluster.info.probe_cluster_bytes_sent.bytes(), cluster.info.send_rate.bps());
}

SimTime Pacer::MediaTime(SimTime now) const {
  if (pacing_rate_bps_ <= 0) return kNever;
  return media_paid_time_ - now < burst_duration_ ? now : media_paid_time_;
}

SimTime Pacer::next_send_time(SimTime now) const {
  if (!audio_.empty()) return now;
  // During a probe cluster, only audio leaves outside the cluster: media is part of it.
  if (active_ && !probes_.empty()) return ProbeTime(now);
  if (congested_) return active_ ? std::max(now, last_send_time_ + kCongestedPacketInterval) : kNever;
  if (has_media()) return MediaTime(now);
  if (active_ && padding_rate_bps_ > 0) return std::max(padding_paid_time_, media_paid_time_);
  return kNever;
}

std::optional<MediaPacket> Pacer::Take(SimTime now) {
  // Every return uses this variable, so that it is constructed in the caller's storage: copying it right after it is
  // written takes longer than the rest of the function.
  std::optional<MediaPacket> packet;
  if (next_send_time(now) > now) return packet;
  packet.emplace();
  last_send_time_ = now;
  if (!audio_.empty()) {
    *packet = audio_.take_front().media;
    queued_bytes_ -= packet->payload_bytes + overhead_bytes_;
    return packet;
  }
  if (active_ && !probes_.empty()) {
    *packet = TakeProbe(now);
    return packet;
  }
  if (congested_) {
    *packet = PlainPadding();
  } else {
    *packet = has_media() ? PopMedia() : RtxPadding();
  }
  AccountMedia(packet->payload_bytes + packet->padding_bytes + overhead_bytes_, now);
  return packet;
}

MediaPacket Pacer::TakeProbe(SimTime now) {
  ProbeCluster& cluster = probes_.front();
  if (cluster.start_time == kNever) cluster.start_time = now;
  const bool takes_rtx = kMaxPaddingSizeFactor * BytesIn(kProbeStep, cluster.info.send_rate.bps()) >= kMaxPayloadBytes;
  MediaPacket packet = has_media() ? PopMedia() : takes_rtx ? RtxPadding() : PlainPadding();
  packet.pacing_info = cluster.info;
  const int64_t size_bytes = packet.payload_bytes + packet.padding_bytes + overhead_bytes_;
  AccountMedia(size_bytes, now);
  cluster.info.probe_cluster_bytes_sent += DataSize::Bytes(size_bytes);
  ++cluster.packets_sent;
  if (cluster.packets_sent >= cluster.info.probe_cluster_min_probes &&
      cluster.info.probe_cluster_bytes_sent.bytes() >= cluster.bytes_to_send) {
    probes_.pop_front();
  }
  return packet;
}

MediaPacket Pacer::PopMedia() {
  const MediaPacket packet = (retransmissions_.empty() ? media_ : retransmissions_).take_front().media;
  queued_bytes_ -= packet.payload_bytes + overhead_bytes_;
  return packet;
}

void Pacer::AccountMedia(int64_t size_bytes, SimTime now) {
  if (pacing_rate_bps_ > 0) {
    int64_t rate_bps = pacing_rate_bps_;
    if (has_media()) {
      // Fast enough for the whole queue to leave before its oldest packet has waited for kMaxQueueing.
      const SimDuration left = std::max(SimDuration::Millis(1), kMaxQueueing - (now - next_media().enqueue_time));
      rate_bps = std::max(rate_bps, RateBpsOf(8 * queued_bytes_, left));
    }
    media_paid_time_ = std::max(media_paid_time_, now) + TransmissionTime(size_bytes, rate_bps);
  }
  if (padding_rate_bps_ > 0) {
    padding_paid_time_ = std::max(padding_paid_time_, now) + TransmissionTime(size_bytes, padding_rate_bps_);
  }
}

}  // namespace weir::sim
