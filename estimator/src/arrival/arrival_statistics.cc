#include "arrival/arrival_statistics.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

constexpr TimeDelta kMaxClockStepBack = TimeDelta::Seconds(3);
constexpr TimeDelta kAbsSendTimeMemory = TimeDelta::Seconds(10);
// More than a few forged packets, and less than a second of video.
constexpr int kAbsSendTimesToReplaceRtp = 20;
constexpr int kAbsSendTimeBits = 24;
constexpr int64_t kAbsSendTimeTicksPerSecond = int64_t{1} << 18;
constexpr uint32_t kMinRtpClockRate = 1000;
constexpr uint32_t kMaxRtpClockRate = 1'000'000;
// Half-life of a stream's loss.
constexpr TimeDelta kLossHalfLife = TimeDelta::Seconds(2);
constexpr int kFewestWitnesses = 2;
constexpr DataSize kMaxUdpPayload = DataSize::Bytes(65'535);

bool IsPlausible(const PacketArrival& packet) { return IsTime(packet.arrival_time) && packet.size() <= kMaxUdpPayload; }

}  // namespace

ArrivalStatistics::ArrivalStatistics() {
  for (size_t i = 0; i < kPreparedStreams; ++i) streams_[i] = std::make_unique<Stream>();
}

bool ArrivalStatistics::SentPacket::IsBefore(const PacketArrival& packet) const {
  if (has_abs_send_time && packet.has_abs_send_time)
    return internal::WrappingDifference(packet.abs_send_time, abs_send_time, kAbsSendTimeBits) > 0;
  if (has_rtp_timestamp && packet.rtp_clock_rate != 0)
    return internal::WrappingDifference(packet.rtp_timestamp, rtp_timestamp, 32) > 0;
  return true;
}

void ArrivalStatistics::Stream::RestartDelay() {
  if (delay) *delay = {};
  has_rtp_timestamp = false;
}

[[gnu::always_inline]] inline bool ArrivalStatistics::ReadSequenceNumber(const PacketArrival& packet, bool is_new,
                                                                         Stream& stream, Arrival& arrival) {
  const SentPacket newest = {packet.has_abs_send_time, packet.abs_send_time, packet.rtp_clock_rate != 0,
                             packet.rtp_timestamp};
  if (is_new) {
    stream.sequence_numbers.Start(packet.sequence_number, packet.arrival_time);
    stream.newest = newest;
    arrival.sequence_number = packet.sequence_number;
    return true;
  }
  using Verdict = SequenceNumbers::Verdict;
  const SequenceNumbers::Result number = stream.sequence_numbers.Add(packet.sequence_number, packet.arrival_time,
                                                                     [&] { return stream.newest.IsBefore(packet); });
  switch (number.verdict) {
    case Verdict::kDuplicate:
      ++counters_.duplicates;
      return false;
    case Verdict::kLeap:
      ++counters_.invalid;
      return false;
    case Verdict::kLate:
      ++counters_.reordered;
      break;
    case Verdict::kRestart:
      ++counters_.restarts;
      // RTP timestamps start at a random value again; abs-send-time is the sender's clock and does not.
      stream.RestartDelay();
      stream.newest = newest;
      break;
    case Verdict::kNew:
      stream.newest = newest;
      break;
  }
  arrival.sequence_number = number.sequence_number;
  arrival.lost_change = number.lost_change;
  return true;
}

[[gnu::always_inline]] inline void ArrivalStatistics::ReadArrivalTime(Timestamp arrival_time) {
  if (arrival_time > last_arrival_) {
    last_arrival_ = arrival_time;
  } else if (arrival_time < last_arrival_ - kMaxClockStepBack) {
    RestartClock(arrival_time);
  }
}

[[gnu::always_inline]] inline bool ArrivalStatistics::MeasureDelay(Timestamp arrival_time, const SendTime& sent,
                                                                   Delay& delay) {
  const SendTimeFilter::Result send_time = delay.send_times.Update(arrival_time, sent);
  if (!send_time.believed) {
    ++counters_.send_time_outliers;
    return false;
  }
  measured_ = delay.queueing_delay.Update(arrival_time, send_time.delay, delay.size, delay.received, lowest_rate_);
  delay.size = delay.received = DataSize::Zero();
  if (send_time.leapt || measured_.restarted) ++counters_.clock_restarts;
  return true;
}

[[gnu::always_inline]] inline void ArrivalStatistics::CheckSendClock(const PacketArrival& packet,
                                                                     const SendTime& abs_send_time,
                                                                     const SendTime& rtp_timestamp) {
  const bool was_wrong = send_clock_check_.abs_send_time_is_wrong();
  send_clock_check_.OnPacket(packet, last_arrival_, abs_send_time, rtp_timestamp);
  // A delay measured by the wrong clock is no queue.
  if (send_clock_check_.abs_send_time_is_wrong() && !was_wrong) {
    abs_send_time_delay_ = {};
    measured_ = {};
  }
}

[[gnu::always_inline]] inline void ArrivalStatistics::ReadSendTime(const PacketArrival& packet, Stream& stream,
                                                                   Arrival& arrival) {
  const uint32_t ticks = packet.abs_send_time & ((1u << kAbsSendTimeBits) - 1);
  const SendTime abs_send_time = {ticks, kAbsSendTimeBits, kAbsSendTimeTicksPerSecond};
  const SendTime rtp_timestamp = {packet.rtp_timestamp, 32, packet.rtp_clock_rate};
  const bool has_rtp_timestamp = packet.rtp_clock_rate >= kMinRtpClockRate && packet.rtp_clock_rate <= kMaxRtpClockRate;
  if (packet.has_abs_send_time && has_rtp_timestamp) CheckSendClock(packet, abs_send_time, rtp_timestamp);
  const bool is_wrong = send_clock_check_.abs_send_time_is_wrong();
  if (packet.has_abs_send_time && !is_wrong && (!measures_by_rtp_ || ++abs_send_times_ >= kAbsSendTimesToReplaceRtp)) {
    has_abs_send_time_ = true;
    measures_by_rtp_ = false;
    last_abs_send_time_ = last_arrival_;
    abs_send_time_delay_.size += SentSize(packet.size(), arrival.lost_change);
    abs_send_time_delay_.received += packet.size();
    arrival.has_delay = MeasureDelay(packet.arrival_time, abs_send_time, abs_send_time_delay_);
  } else if (has_rtp_timestamp &&
             (is_wrong || !has_abs_send_time_ || last_arrival_ - last_abs_send_time_ > kAbsSendTimeMemory)) {
    if (!stream.delay) stream.delay = std::make_unique<Delay>();
    stream.delay->size += SentSize(packet.size(), arrival.lost_change);
    stream.delay->received += packet.size();
    if (IsNewRtpTimestamp(packet, stream)) {
      arrival.has_delay = MeasureDelay(packet.arrival_time, rtp_timestamp, *stream.delay);
    }
    if (arrival.has_delay) {
      stream.has_rtp_timestamp = true;
      stream.rtp_timestamp = packet.rtp_timestamp;
      if (!std::exchange(measures_by_rtp_, true)) abs_send_times_ = 0;
    }
  }
  arrival.queueing_delay = measured_.queueing_delay;
  arrival.delay_change = measured_.change;
  arrival.delay_stands = measured_.stands;
}

std::optional<Arrival> ArrivalStatistics::OnPacket(const PacketArrival& packet) {
  // All returns use this variable, so that it is constructed in place: copying it just after it is written is slow. It
  // contains the packet from the start, because an empty one would first be filled with zeros.
  std::optional<Arrival> result = Arrival{.packet = packet};
  if (!IsPlausible(packet)) {
    ++counters_.invalid;
    result.reset();
    return result;
  }
  const SsrcTable::Slot slot = ssrcs_.Find(packet.ssrc);
  std::unique_ptr<Stream>& place = streams_[slot.index];
  // The pointer is also null if the allocation failed for the stream's first packet.
  const bool is_new = slot.is_new || !place;
  if (!place) place = std::make_unique<Stream>();
  Stream& stream = *place;
  if (is_new) {
    stream.RestartDelay();
    stream.loss = {};
  }
  stream.removed = false;
  stream.last_heard = packet.arrival_time;
  if (slot.evicted) ++counters_.ssrc_evictions;

  Arrival& arrival = *result;
  if (!ReadSequenceNumber(packet, is_new, stream, arrival)) {
    result.reset();
    return result;
  }
  ReadArrivalTime(packet.arrival_time);
  arrival.packet.arrival_time = last_arrival_;
  if (packet.kind == PacketKind::kVideo || packet.kind == PacketKind::kAudio)
    arrival.lost_change = LossOnLink(stream, packet.kind, arrival.lost_change);
  ReadSendTime(packet, stream, arrival);
  return result;
}

int32_t ArrivalStatistics::LossOnLink(Stream& stream, PacketKind kind, int32_t lost_change) {
  if (last_arrival_ - losses_aged_ >= kLossHalfLife) {
    losses_aged_ = last_arrival_;
    for (const std::unique_ptr<Stream>& other : streams_) {
      if (other) other->loss.Age();
    }
  }
  stream.loss.Add(kind, lost_change);
  if (lost_change == 0) return 0;
  return stream.loss.ForLink(lost_change, lost_change > 0 && IsUpstream(stream));
}

bool ArrivalStatistics::IsUpstream(const Stream& stream) const {
  if (!stream.loss.has_loss()) return false;
  int comparable = 0;
  int witnesses = 0;
  for (const std::unique_ptr<Stream>& other : streams_) {
    if (!other || other.get() == &stream || !stream.loss.IsComparable(other->loss)) continue;
    ++comparable;
    witnesses += stream.loss.IsContradictedBy(other->loss) ? 1 : 0;
  }
  return witnesses >= kFewestWitnesses && 2 * witnesses >= comparable;
}

bool ArrivalStatistics::IsNewRtpTimestamp(const PacketArrival& packet, const Stream& stream) {
  if (packet.kind == PacketKind::kRetransmission) return false;
  if (!stream.has_rtp_timestamp) return true;
  const auto step = static_cast<int32_t>(packet.rtp_timestamp - stream.rtp_timestamp);
  // A larger step back is not an overtaken frame but a clock that was set back.
  return step > 0 || step < -(SendTimeFilter::kMaxLateness.ms() * int64_t{packet.rtp_clock_rate} / 1000);
}

void ArrivalStatistics::RestartClock(Timestamp arrival_time) {
  // Delays measured before are not comparable with those measured from now on.
  ++counters_.clock_restarts;
  abs_send_time_delay_ = {};
  send_clock_check_.Restart();
  for (const std::unique_ptr<Stream>& stream : streams_) {
    if (!stream) continue;
    if (stream->delay) *stream->delay = {};
    stream->last_heard = std::min(stream->last_heard, arrival_time);
  }
  last_abs_send_time_ = losses_aged_ = last_arrival_ = arrival_time;
}

void ArrivalStatistics::RemoveStream(uint32_t ssrc) {
  const std::optional<size_t> slot = ssrcs_.Known(ssrc);
  if (slot && streams_[*slot]) streams_[*slot]->removed = true;
}

size_t ArrivalStatistics::Ssrcs(std::span<uint32_t> out) const {
  std::array<uint16_t, kMaxSsrcs> slots{};
  const size_t known = ssrcs_.Recent(slots);
  size_t count = 0;
  for (size_t i = 0; i < known && count < out.size(); ++i) {
    const std::unique_ptr<Stream>& stream = streams_[slots[i]];
    const bool goes_on = stream && !stream->removed && last_arrival_ - stream->last_heard <= kStreamTimeout;
    if (goes_on) out[count++] = ssrcs_.ssrc(slots[i]);
  }
  return count;
}

}  // namespace weir
