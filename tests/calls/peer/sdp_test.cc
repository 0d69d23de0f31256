#include "sdp.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace weir::peer {
namespace {

constexpr char kAnswer[] =
    "v=0\r\n"
    "o=- 1 1 IN IP4 127.0.0.1\r\n"
    "s=-\r\n"
    "t=0 0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
    "a=setup:active\r\n"
    "a=fingerprint:sha-1 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33\r\n"
    "a=rtpmap:111 opus/48000/2\r\n"
    "a=rtcp-fb:111 transport-cc\r\n"
    "a=fmtp:111 minptime=10\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=rtpmap:96 VP8/90000\r\n"
    "a=rtcp-fb:96 goog-remb\r\n"
    "a=rtcp-fb:96 transport-cc\r\n"
    "a=rtpmap:97 rtx/90000\r\n"
    "a=fmtp:97 apt=96\r\n"
    "a=rtpmap:98 VP9/90000\r\n"
    "a=fmtp:98 profile-id=0\r\n";

std::unique_ptr<webrtc::SessionDescriptionInterface> Answer() {
  return webrtc::CreateSessionDescription(webrtc::SdpType::kAnswer, kAnswer);
}

TEST(Sdp, WithoutTransportCcRembAndSendTimesAreKept) {
  const auto answer = Answer();
  RemoveTransportCc(*answer);
  const std::string sdp = TextWithTool(*answer);
  EXPECT_EQ(sdp.find("transport"), std::string::npos);
  EXPECT_NE(sdp.find("a=rtcp-fb:96 goog-remb\r\n"), std::string::npos);
  EXPECT_NE(sdp.find("abs-send-time\r\n"), std::string::npos);
}

TEST(Sdp, StartBitrateIsAddedToVideoCodecsOnly) {
  const auto answer = Answer();
  SetBitrates(*answer, 5000);
  const std::string sdp = TextWithTool(*answer);
  const std::string bitrates = "x-google-max-bitrate=20000;x-google-start-bitrate=5000\r\n";
  EXPECT_NE(sdp.find("a=fmtp:96 " + bitrates), std::string::npos);
  EXPECT_NE(sdp.find("a=fmtp:98 profile-id=0;" + bitrates), std::string::npos);
  EXPECT_NE(sdp.find("a=fmtp:97 apt=96\r\n"), std::string::npos);
  EXPECT_NE(sdp.find("a=fmtp:111 minptime=10\r\n"), std::string::npos);
}

// A start bitrate in a later description would begin the browser's estimate again.
TEST(Sdp, ALaterDescriptionHasNoStartBitrate) {
  const auto offer = Answer();
  SetBitrates(*offer, std::nullopt);
  const std::string sdp = TextWithTool(*offer);
  EXPECT_NE(sdp.find("a=fmtp:96 x-google-max-bitrate=20000\r\n"), std::string::npos);
  EXPECT_EQ(sdp.find("x-google-start-bitrate"), std::string::npos);
}

TEST(Sdp, PeersKnowEachOther) {
  const std::string sdp = TextWithTool(*Answer());
  EXPECT_TRUE(HasTool(sdp));
  EXPECT_FALSE(HasTool(kAnswer));
  EXPECT_LT(sdp.find("a=tool:weir-peer\r\n"), sdp.find("m=audio"));
}

TEST(Sdp, AnswererBecomesDtlsServer) {
  const auto answer = Answer();
  BecomeDtlsServer(*answer);
  EXPECT_NE(TextWithTool(*answer).find("a=setup:passive\r\n"), std::string::npos);
}

TEST(Sdp, PacketKindsFollowTheCodecs) {
  const std::map<int, PacketKind> expected = {
      {96, PacketKind::kVideo}, {97, PacketKind::kRetransmission}, {98, PacketKind::kVideo}, {111, PacketKind::kAudio}};
  EXPECT_EQ(PacketKinds(*Answer()), expected);
}

}  // namespace
}  // namespace weir::peer
