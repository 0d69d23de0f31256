// Arrivals and streams of RTP packets for tests: consecutive numbers, send times on the sender's clock, any delay.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_STREAM_H_
#define WEIR_TESTS_ESTIMATOR_TEST_STREAM_H_

#include <cstdint>

#include "weir/arrival.h"

namespace weir {

// A packet of `bytes`, without headers, as the statistics pass it on.
inline Arrival ArrivalOf(Timestamp time, uint32_t bytes, TimeDelta queueing_delay = TimeDelta::Zero(),
                         int32_t lost_change = 0) {
  Arrival arrival;
  arrival.packet.arrival_time = time;
  arrival.packet.payload_size = bytes;
  arrival.packet.has_abs_send_time = true;
  arrival.has_delay = true;
  arrival.queueing_delay = queueing_delay;
  arrival.lost_change = lost_change;
  return arrival;
}

// The abs-send-time of a time on the sender's clock.
inline uint32_t AbsSendTime(Timestamp time) {
  const auto us = static_cast<__int128>(time.us());
  return static_cast<uint32_t>((us << 18) / 1'000'000) & 0xFFFFFF;
}

class TestStream {
 public:
  explicit TestStream(uint32_t ssrc = 1, uint16_t first_sequence_number = 0)
      : ssrc_(ssrc), sequence_number_(first_sequence_number) {}

  // The next packet, sent at `send_time` and received after `delay`.
  PacketArrival Next(Timestamp send_time, TimeDelta delay = TimeDelta::Millis(25), uint32_t payload_size = 1000) {
    return Make(sequence_number_++, send_time, delay, payload_size);
  }
  void Skip(int packets) { sequence_number_ = static_cast<uint16_t>(sequence_number_ + packets); }

  PacketArrival Make(uint16_t sequence_number, Timestamp send_time, TimeDelta delay = TimeDelta::Millis(25),
                     uint32_t payload_size = 1000) const {
    PacketArrival packet;
    packet.arrival_time = send_time + delay;
    packet.ssrc = ssrc_;
    packet.sequence_number = sequence_number;
    packet.has_abs_send_time = true;
    packet.abs_send_time = AbsSendTime(send_time);
    packet.header_size = 20;
    packet.payload_size = payload_size;
    return packet;
  }

 private:
  uint32_t ssrc_;
  uint16_t sequence_number_;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_STREAM_H_
