#include "virtual_call/rtp_header.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::sim {
namespace {

std::vector<uint8_t> Packet(uint8_t first, uint8_t second, size_t size) {
  std::vector<uint8_t> packet(size, 0);
  packet[0] = first;
  packet[1] = second;
  return packet;
}

TEST(RtpHeader, HasTheFieldsOfAPacketWithAnExtension) {
  std::vector<uint8_t> packet = Packet(0xb0, 0x80 | 96, 40);
  packet[2] = 0x12, packet[3] = 0x34;
  packet[7] = 7;
  packet[11] = 9;
  packet[15] = 2;  // words of extension
  const auto header = ParseRtpHeader(packet);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->payload_type, 96);
  EXPECT_TRUE(header->padding);
  EXPECT_EQ(header->sequence_number, 0x1234);
  EXPECT_EQ(header->timestamp, 7u);
  EXPECT_EQ(header->ssrc, 9u);
  EXPECT_EQ(header->size_bytes, 12u + 4 + 8);
}

TEST(RtpHeader, TellsRtpFromWhatSharesItsPort) {
  EXPECT_FALSE(ParseRtpHeader(Packet(0x80, 200, 28)));  // RTCP sender report
  EXPECT_TRUE(IsRtcp(Packet(0x80, 200, 28)));
  EXPECT_FALSE(IsRtpOrRtcp(Packet(0x00, 0x01, 20)));  // STUN
  EXPECT_FALSE(IsRtpOrRtcp(Packet(22, 254, 60)));     // DTLS
  EXPECT_FALSE(ParseRtpHeader(std::vector<uint8_t>()));
}

TEST(RtpHeader, AbsSendTimeIsFoundAndWritten) {
  std::vector<uint8_t> packet = Packet(0x90, 96, 40);
  packet[12] = 0xbe, packet[13] = 0xde;
  packet[15] = 3;
  packet[16] = 0x10;  // another extension of one byte, then padding
  packet[19] = 0x22;  // number 2, three bytes
  EXPECT_TRUE(FindAbsSendTime(packet, 3).empty());
  const auto bits = FindAbsSendTime(packet, 2);
  ASSERT_EQ(bits.size(), 3u);
  EXPECT_EQ(bits.data(), packet.data() + 20);
  WriteAbsSendTime(bits, SimTime::Millis(65'500));  // 1.5 s after a whole turn of 64 s
  EXPECT_EQ(bits[0], 0x06);
  EXPECT_EQ(bits[1], 0x00);
  packet[19] = 0x2f;  // longer than the extensions
  EXPECT_TRUE(FindAbsSendTime(packet, 2).empty());
}

TEST(RtpHeader, TruncatedPacketsHaveNone) {
  EXPECT_FALSE(ParseRtpHeader(Packet(0x80, 96, 11)));
  EXPECT_FALSE(ParseRtpHeader(Packet(0x90, 96, 14)));
  std::vector<uint8_t> packet = Packet(0x90, 96, 20);
  packet[14] = packet[15] = 0xff;
  EXPECT_FALSE(ParseRtpHeader(packet));
  EXPECT_FALSE(ParseRtpHeader(Packet(0x8f, 96, 30)));  // 15 CSRCs
}

}  // namespace
}  // namespace weir::sim
