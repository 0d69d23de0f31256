// Decides when a sender's packets leave, as libwebrtc's pacer does: media at the pacing rate, audio at once,
// retransmissions before new media, padding up to the padding rate, probe clusters at their own rate.
//
// As in Chromium 150, whose packets confirm it, media leaves in bursts of up to the controller's `burst_interval`, 40
// ms by default. Otherwise every packet leaves at its exact nanosecond, so measured delays show no timer granularity.
#ifndef WEIR_SIMULATOR_ENDPOINTS_PACER_H_
#define WEIR_SIMULATOR_ENDPOINTS_PACER_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "media/media_source.h"
#include "weir/sender_controller.h"

namespace weir::sim {

class Pacer {
 public:
  // `overhead_bytes`: bytes of a packet in addition to its payload, counted against all rates.
  explicit Pacer(uint32_t overhead_bytes) : overhead_bytes_(overhead_bytes) {}

  void SetConfig(const PacerConfig& config, SimTime now);
  void AddProbeCluster(const ProbeClusterConfig& config);
  // While congested, only audio, probes and two small padding packets per second leave.
  void SetCongested(bool congested) { congested_ = congested; }
  // Padding and probes are sent only while active.
  void SetActive(bool active);

  void Enqueue(const MediaPacket& packet, SimTime now);
  bool empty() const { return audio_.empty() && retransmissions_.empty() && media_.empty(); }
  int64_t queued_bytes() const { return queued_bytes_; }

  // When Take() has a packet; kNever if it has none until something changes.
  SimTime next_send_time(SimTime now) const;
  // The packet that is due, or nullopt.
  std::optional<MediaPacket> Take(SimTime now);

 private:
  struct QueuedPacket {
    MediaPacket media;
    SimTime enqueue_time = kTimeZero;
  };
  struct ProbeCluster {
    PacedPacketInfo info;
    int64_t bytes_to_send = 0;
    int32_t packets_sent = 0;
    // kNever until its first packet.
    SimTime start_time = kTimeZero;
  };

  SimTime MediaTime(SimTime now) const;
  SimTime ProbeTime(SimTime now) const;
  MediaPacket TakeProbe(SimTime now);
  bool has_media() const { return !retransmissions_.empty() || !media_.empty(); }
  const QueuedPacket& next_media() const {
    return retransmissions_.empty() ? media_.front() : retransmissions_.front();
  }
  MediaPacket PopMedia();
  void AccountMedia(int64_t size_bytes, SimTime now);

  const uint32_t overhead_bytes_;
  bool active_ = false;
  bool congested_ = false;
  SimTime last_send_time_ = kTimeZero;
  int64_t pacing_rate_bps_ = 0;
  int64_t padding_rate_bps_ = 0;
  // How far sent media may be ahead of the pacing rate.
  SimDuration burst_duration_ = SimDuration::Zero();
  RingBuffer<QueuedPacket> audio_;
  RingBuffer<QueuedPacket> retransmissions_;
  RingBuffer<QueuedPacket> media_;
  int64_t queued_bytes_ = 0;
  // When sent data is paid off at the pacing rate, and at the padding rate.
  SimTime media_paid_time_ = kTimeZero;
  SimTime padding_paid_time_ = kTimeZero;
  std::deque<ProbeCluster> probes_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_PACER_H_
