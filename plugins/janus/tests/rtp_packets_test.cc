#include "rtp_packets.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace weir::janus {
namespace {

constexpr uint8_t kAbsSendTimeId = 3;

Negotiated Video(bool transport_cc = true) {
  Negotiated negotiated;
  negotiated.payload_types[96] = {.estimated = true, .is_video = true, .clock_rate_hz = 90000};
  negotiated.payload_types[111] = {.estimated = true, .is_video = false, .clock_rate_hz = 48000};
  negotiated.abs_send_time_id = kAbsSendTimeId;
  negotiated.transport_cc = transport_cc;
  return negotiated;
}

// SSRC 0x01020304, sequence number 0x1234, timestamp 0x55667788, and `payload_bytes` zeros.
std::vector<uint8_t> Packet(uint8_t payload_type, const std::vector<uint8_t>& extension, size_t payload_bytes) {
  std::vector<uint8_t> packet = {0x80, payload_type, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 1, 2, 3, 4};
  if (!extension.empty()) packet[0] |= 0x10;
  for (const uint8_t byte : extension) packet.push_back(byte);
  packet.resize(packet.size() + payload_bytes);
  return packet;
}

const std::vector<uint8_t> kOneByte = {0xbe, 0xde, 0, 2, 0x10, 7, 0, 0x32, 0xab, 0xcd, 0xef, 0};
const std::vector<uint8_t> kTwoBytes = {0x10, 0x00, 0, 2, 9, 0, 3, 3, 0xab, 0xcd, 0xef, 0};

TEST(ReadPacketTest, FindsAbsSendTimeInBothFormsOfTheHeaderExtension) {
  for (const auto& extension : {kOneByte, kTwoBytes}) {
    const auto read = ReadPacket(Packet(96, extension, 100), Video());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->has_abs_send_time, 1u);
    EXPECT_EQ(read->abs_send_time, 0xabcdefu);
    EXPECT_EQ(read->ssrc, 0x01020304u);
    EXPECT_EQ(read->sequence_number, 0x1234);
    EXPECT_EQ(read->rtp_timestamp, 0x55667788u);
    EXPECT_EQ(read->rtp_clock_rate_hz, 90000u);
    EXPECT_EQ(read->payload_bytes, 100u);
    EXPECT_EQ(read->kind, WEIR_PACKET_VIDEO);
  }
}

TEST(ReadPacketTest, HeaderIncludesTransportBytesOnlyWithTransportCc) {
  EXPECT_EQ(ReadPacket(Packet(96, {}, 1), Video(true))->header_bytes, 12u + 38u);
  EXPECT_EQ(ReadPacket(Packet(96, {}, 1), Video(false))->header_bytes, 12u);
}

TEST(ReadPacketTest, VideoWithoutPayloadIsAProbe) {
  std::vector<uint8_t> packet = Packet(96, {}, 20);
  packet[0] |= 0x20;
  packet.back() = 20;
  const auto read = ReadPacket(packet, Video());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->padding_bytes, 20u);
  EXPECT_EQ(read->kind, WEIR_PACKET_PROBE);
  packet.back() = 21;
  EXPECT_FALSE(ReadPacket(packet, Video()));
}

TEST(ReadPacketTest, PacketsOfOtherPayloadTypesAreNotEstimated) {
  EXPECT_FALSE(ReadPacket(Packet(97, {}, 10), Video()));
  EXPECT_EQ(ReadPacket(Packet(111, {}, 10), Video())->kind, WEIR_PACKET_AUDIO);
}

TEST(ReadPacketTest, TruncatedAndDamagedPacketsAreRefusedOrWithinTheirSize) {
  std::mt19937 random(1);
  for (const auto& extension : {kOneByte, kTwoBytes}) {
    const std::vector<uint8_t> whole = Packet(96, extension, 8);
    for (int i = 0; i < 20'000; ++i) {
      // A copy of its own size, so that a sanitizer sees a read beyond it.
      std::vector<uint8_t> packet(whole.begin(), whole.begin() + random() % (whole.size() + 1));
      for (int changes = static_cast<int>(random() % 4); changes > 0 && !packet.empty(); --changes)
        packet[random() % packet.size()] = static_cast<uint8_t>(random());
      const auto read = ReadPacket(packet, Video(false));
      if (read) {
        EXPECT_EQ(read->header_bytes + read->payload_bytes + read->padding_bytes, packet.size());
      }
    }
  }
}

weir_packet Numbered(uint16_t sequence_number, uint32_t abs_send_time) {
  weir_packet packet{};
  packet.ssrc = 7;
  packet.sequence_number = sequence_number;
  packet.kind = WEIR_PACKET_VIDEO;
  packet.has_abs_send_time = 1;
  packet.abs_send_time = abs_send_time & 0xffffff;
  return packet;
}

TEST(RetransmissionFinderTest, OldNumberThatWasSentLaterIsARetransmission) {
  RetransmissionFinder finder;
  // Numbers and send times wrap.
  weir_packet first = Numbered(65534, 0xfffff0);
  weir_packet next = Numbered(1, 0xfffffa);
  finder.Mark(&first);
  finder.Mark(&next);
  weir_packet again = Numbered(65535, 0x000004);
  finder.Mark(&again);
  EXPECT_EQ(next.kind, WEIR_PACKET_VIDEO);
  EXPECT_EQ(again.kind, WEIR_PACKET_RETRANSMISSION);
  EXPECT_NE(again.ssrc, 7u);
  EXPECT_EQ(again.sequence_number, 1);
}

TEST(RetransmissionFinderTest, ReorderedPacketKeepsItsStream) {
  RetransmissionFinder finder;
  weir_packet newest = Numbered(10, 1000);
  weir_packet late = Numbered(9, 990);
  finder.Mark(&newest);
  finder.Mark(&late);
  EXPECT_EQ(late.kind, WEIR_PACKET_VIDEO);
  EXPECT_EQ(late.ssrc, 7u);
}

TEST(RetransmissionFinderTest, AThousandStreamsAreNoError) {
  RetransmissionFinder finder;
  for (uint32_t i = 0; i < 1000; ++i) {
    weir_packet packet = Numbered(1, 1);
    packet.ssrc = i;
    finder.Mark(&packet);
    EXPECT_EQ(packet.kind, WEIR_PACKET_VIDEO);
  }
}

}  // namespace
}  // namespace weir::janus
