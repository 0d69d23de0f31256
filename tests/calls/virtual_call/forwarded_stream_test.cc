#include "virtual_call/forwarded_stream.h"

#include <gtest/gtest.h>

#include <optional>

#include "virtual_call/rtp_header.h"

namespace weir::sim {
namespace {

constexpr ForwardedStreamConfig kConfig{
    .ssrc = 7, .rtx_ssrc = 8, .payload_type = 96, .rtx_payload_type = 97, .transport_cc_id = 3};
constexpr TimeDelta kRoundTrip = TimeDelta::Millis(100);

// One frame in one packet.
SimulcastPacket Frame(size_t layer, int64_t ms, bool key_frame) {
  return {.layer = layer,
          .capture_time = SimTime::Millis(ms),
          .rtp_timestamp = static_cast<uint32_t>(90 * ms),
          .key_frame = key_frame,
          .first = true,
          .last = true,
          .width = 320,
          .height = 180,
          .payload_size = 500};
}

RtpHeader HeaderOf(const std::optional<ForwardedStream::RtpData>& data) { return ParseRtpHeader(data.value()).value(); }

int PictureId(const ForwardedStream::RtpData& data) { return (data[22] << 8 | data[23]) & 0x7fff; }

TEST(ForwardedStream, ALayerIsForwardedFromItsKeyFrameOnAndNumbersContinue) {
  ForwardedStream stream(0, kConfig);
  EXPECT_FALSE(stream.Forward(Frame(0, 0, true))) << "nothing is wanted";
  stream.Want(0);
  const auto first = stream.Forward(Frame(0, 33, true));
  stream.Want(1);
  const auto second = stream.Forward(Frame(0, 67, false));
  EXPECT_FALSE(stream.Forward(Frame(1, 67, false))) << "no key frame";
  EXPECT_EQ(stream.layer(), 0);
  const auto third = stream.Forward(Frame(1, 100, true));
  EXPECT_FALSE(stream.Forward(Frame(0, 133, false)));
  EXPECT_EQ(stream.layer(), 1);
  EXPECT_EQ(HeaderOf(first).ssrc, kConfig.ssrc);
  EXPECT_EQ(HeaderOf(second).sequence_number, HeaderOf(first).sequence_number + 1);
  EXPECT_EQ(HeaderOf(third).sequence_number, HeaderOf(first).sequence_number + 2);
  EXPECT_EQ(PictureId(*third), PictureId(*first) + 2);
  EXPECT_EQ(HeaderOf(third).timestamp, 9000u);
}

TEST(ForwardedStream, TimestampsRiseIfBothLayersOfAPictureAreForwarded) {
  ForwardedStream stream(0, kConfig);
  stream.Want(0);
  const auto low = stream.Forward(Frame(0, 33, true));
  stream.Want(1);
  const auto high = stream.Forward(Frame(1, 33, true));
  EXPECT_EQ(HeaderOf(high).timestamp, HeaderOf(low).timestamp + 1);
  EXPECT_EQ(stream.CaptureTime(HeaderOf(high).timestamp), SimTime::Millis(33));
}

TEST(ForwardedStream, APausedStreamForwardsNothingUntilAKeyFrame) {
  ForwardedStream stream(0, kConfig);
  stream.Want(0);
  EXPECT_TRUE(stream.Forward(Frame(0, 0, true)));
  stream.Want(-1);
  EXPECT_FALSE(stream.Forward(Frame(0, 33, false)));
  stream.Want(0);
  EXPECT_FALSE(stream.Forward(Frame(0, 67, false)));
  EXPECT_TRUE(stream.Forward(Frame(0, 100, true)));
}

TEST(ForwardedStream, RetransmitsAPacketOnceInARoundTrip) {
  ForwardedStream stream(0, kConfig);
  stream.Want(0);
  const uint16_t number = HeaderOf(stream.Forward(Frame(0, 33, true))).sequence_number;
  const Timestamp now = Timestamp::Seconds(1);
  const auto sent = stream.Retransmit(number, now, kRoundTrip);
  EXPECT_EQ(HeaderOf(sent).payload_type, kConfig.rtx_payload_type);
  EXPECT_EQ(HeaderOf(sent).ssrc, kConfig.rtx_ssrc);
  EXPECT_EQ((*sent)[20] << 8 | (*sent)[21], number) << "the original's number (RFC 4588)";
  EXPECT_FALSE(stream.Retransmit(number, now + TimeDelta::Millis(99), kRoundTrip));
  EXPECT_TRUE(stream.Retransmit(number, now + kRoundTrip, kRoundTrip));
  EXPECT_FALSE(stream.Retransmit(static_cast<uint16_t>(number + 1), now, kRoundTrip)) << "never sent";
}

}  // namespace
}  // namespace weir::sim
