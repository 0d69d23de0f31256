#include "endpoints/pacer.h"

#include <algorithm>

#include "core/event.h"

namespace weir::sim {
namespace {

// libwebrtc: the pacer speeds up when a packet would wait longer than this.
constexpr int64_t kMaxQueueingNs = 2'000'000'000;
// libwebrtc, as in Chromium 150: the largest burst. Below some 10 Mbps a whole frame is one burst.
constexpr int64_t kMaxBurstBytes = 63'000;
// libwebrtc: a probe is sent in steps of twice what its rate carries in 2 ms, and counts steps, not packets. Only the
// total size is adopted; packets here are spaced evenly.
constexpr int64_t kProbeStepNs = 4'000'000;
// RTX padding repeats a whole old packet unless that exceeds three times the requested size; then plain padding is
// sent, at most 224 bytes.
constexpr int64_t kMaxPaddingSizeFactor = 3;
constexpr uint32_t kPlainPaddingBytes = 224;
// libwebrtc: the interval of packets while congested, which keep feedback coming.
constexpr int64_t kCongestedPacketIntervalNs = 500'000'000;

int64_t BytesIn(int64_t duration_ns, int64_t rate_bps) {
  return static_cast<int64_t>(static_cast<__int128>(duration_ns) * rate_bps / 8'000'000'000);
}

// When a debt that is paid off at `paid_ns` at the old rate is paid off at the new rate.
int64_t Rescaled(int64_t paid_ns, int64_t now_ns, int64_t old_rate_bps, int64_t new_rate_bps) {
  if (paid_ns <= now_ns || old_rate_bps <= 0) return now_ns;
  if (paid_ns == kNeverNs || new_rate_bps <= 0) return kNeverNs;
  return now_ns + static_cast<int64_t>(static_cast<__int128>(paid_ns - now_ns) * old_rate_bps / new_rate_bps);
}

MediaPacket RtxPadding() { return {.kind = PacketKind::kProbe, .payload_bytes = kMaxPayloadBytes}; }
MediaPacket PlainPadding() { return {.kind = PacketKind::kProbe, .padding_bytes = kPlainPaddingBytes}; }

}  // namespace

void Pacer::SetConfig(const PacerConfig& config, int64_t now_ns) {
  const int64_t pacing_bps = std::max<int64_t>(0, config.pacing_rate.bps());
  const int64_t padding_bps = std::max<int64_t>(0, config.padding_rate.bps());
  if (pacing_bps != pacing_rate_bps_) media_paid_ns_ = Rescaled(media_paid_ns_, now_ns, pacing_rate_bps_, pacing_bps);
  if (padding_bps != padding_rate_bps_) {
    padding_paid_ns_ = Rescaled(padding_paid_ns_, now_ns, padding_rate_bps_, padding_bps);
  }
  pacing_rate_bps_ = pacing_bps;
  const int64_t burst_ns = 1000 * config.burst_interval.us();
  burst_ns_ = pacing_bps > 0 ? std::min(burst_ns, TransmissionNs(kMaxBurstBytes, pacing_bps)) : 0;
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
                                   config.target_probe_count * BytesIn(kProbeStepNs, config.target_data_rate.bps()));
  cluster.started_ns = kNeverNs;
  probes_.push_back(cluster);
}

void Pacer::SetActive(bool active) {
  active_ = active;
  if (!active) probes_.clear();
}

void Pacer::Enqueue(const MediaPacket& packet, int64_t now_ns) {
  queued_bytes_ += packet.payload_bytes + overhead_bytes_;
  auto& queue = packet.kind == PacketKind::kAudio            ? audio_
                : packet.kind == PacketKind::kRetransmission ? retransmissions_
                                                             : media_;
  queue.push_back(QueuedPacket{packet, now_ns});
}

int64_t Pacer::ProbeTimeNs(int64_t now_ns) const {
  const ProbeCluster& cluster = probes_.front();
  if (cluster.started_ns == kNeverNs) return now_ns;
  return cluster.started_ns +
         TransmissionNs(cluster.info.probe_cluster_bytes_sent.bytes(), cluster.info.send_rate.bps());
}

int64_t Pacer::MediaTimeNs(int64_t now_ns) const {
  if (pacing_rate_bps_ <= 0) return kNeverNs;
  return media_paid_ns_ - now_ns < burst_ns_ ? now_ns : media_paid_ns_;
}

int64_t Pacer::next_send_ns(int64_t now_ns) const {
  if (!audio_.empty()) return now_ns;
  // During a probe cluster, only audio leaves outside the cluster: media is part of it.
  if (active_ && !probes_.empty()) return ProbeTimeNs(now_ns);
  if (congested_) return active_ ? std::max(now_ns, last_send_ns_ + kCongestedPacketIntervalNs) : kNeverNs;
  if (has_media()) return MediaTimeNs(now_ns);
  if (active_ && padding_rate_bps_ > 0) return std::max(padding_paid_ns_, media_paid_ns_);
  return kNeverNs;
}

std::optional<MediaPacket> Pacer::Take(int64_t now_ns) {
  // Every return uses this variable, so that it is constructed in the caller's storage: copying it right after it is
  // written takes longer than the rest of the function.
  std::optional<MediaPacket> packet;
  if (next_send_ns(now_ns) > now_ns) return packet;
  packet.emplace();
  last_send_ns_ = now_ns;
  if (!audio_.empty()) {
    *packet = audio_.take_front().media;
    queued_bytes_ -= packet->payload_bytes + overhead_bytes_;
    return packet;
  }
  if (active_ && !probes_.empty()) {
    *packet = TakeProbe(now_ns);
    return packet;
  }
  if (congested_) {
    *packet = PlainPadding();
  } else {
    *packet = has_media() ? PopMedia() : RtxPadding();
  }
  AccountMedia(packet->payload_bytes + packet->padding_bytes + overhead_bytes_, now_ns);
  return packet;
}

MediaPacket Pacer::TakeProbe(int64_t now_ns) {
  ProbeCluster& cluster = probes_.front();
  if (cluster.started_ns == kNeverNs) cluster.started_ns = now_ns;
  const bool takes_rtx =
      kMaxPaddingSizeFactor * BytesIn(kProbeStepNs, cluster.info.send_rate.bps()) >= kMaxPayloadBytes;
  MediaPacket packet = has_media() ? PopMedia() : takes_rtx ? RtxPadding() : PlainPadding();
  packet.pacing_info = cluster.info;
  const int64_t size_bytes = packet.payload_bytes + packet.padding_bytes + overhead_bytes_;
  AccountMedia(size_bytes, now_ns);
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

void Pacer::AccountMedia(int64_t size_bytes, int64_t now_ns) {
  if (pacing_rate_bps_ > 0) {
    int64_t rate_bps = pacing_rate_bps_;
    if (has_media()) {
      // Fast enough for the whole queue to leave before its oldest packet has waited for kMaxQueueingNs.
      const int64_t left_ns = std::max<int64_t>(1'000'000, kMaxQueueingNs - (now_ns - next_media().enqueued_ns));
      rate_bps = std::max(rate_bps, BitsOver(8 * queued_bytes_, left_ns));
    }
    media_paid_ns_ = std::max(media_paid_ns_, now_ns) + TransmissionNs(size_bytes, rate_bps);
  }
  if (padding_rate_bps_ > 0) {
    padding_paid_ns_ = std::max(padding_paid_ns_, now_ns) + TransmissionNs(size_bytes, padding_rate_bps_);
  }
}

}  // namespace weir::sim
