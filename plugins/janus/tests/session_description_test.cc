#include "session_description.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace weir::janus {
namespace {

// As Janus passes a browser's offer to a plug-in.
const std::string kOffer =
    "v=0\r\no=- 4611731400430051336 2 IN IP4 1.1.1.1\r\ns=-\r\nt=0 0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 1.1.1.1\r\na=sendonly\r\na=mid:0\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\na=rtpmap:111 opus/48000/2\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\nc=IN IP4 1.1.1.1\r\na=sendonly\r\na=mid:1\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n";
const std::string kAudioAnswer =
    "v=0\r\no=- 4611731400430051336 2 IN IP4 1.1.1.1\r\ns=-\r\nt=0 0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 1.1.1.1\r\na=recvonly\r\na=mid:0\r\na=rtpmap:111 opus/48000/2\r\n";
const std::string kVideoAnswer =
    "m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 1.1.1.1\r\na=recvonly\r\na=mid:1\r\na=rtpmap:96 VP8/90000\r\n"
    "a=rtcp-fb:96 goog-remb\r\na=rtcp-fb:96 transport-cc\r\n";
const std::string kTransportCc =
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n";

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Answer Complete(const std::string& answer, bool in_charge = true) {
  return CompleteAnswer(answer, ReadOffer(kOffer), in_charge);
}

TEST(SessionDescriptionTest, OfferHasSessionIdAndAbsSendTimeOfEachSection) {
  const Offer offer = ReadOffer(kOffer);
  EXPECT_EQ(offer.session_id, "4611731400430051336");
  ASSERT_EQ(offer.abs_send_time.size(), 2u);
  EXPECT_EQ(offer.abs_send_time[1], "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time");
}

TEST(SessionDescriptionTest, AnswerInChargeAcceptsAbsSendTimeAndSetsRates) {
  const Answer answer = Complete(kAudioAnswer + kVideoAnswer + kTransportCc);
  EXPECT_TRUE(answer.receives_video);
  EXPECT_TRUE(Contains(answer.sdp, "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"));
  EXPECT_TRUE(Contains(answer.sdp, "a=fmtp:96 x-google-start-bitrate=1000;x-google-max-bitrate=20000\r\n"));
  EXPECT_EQ(answer.negotiated.abs_send_time_id, 2);
  EXPECT_TRUE(answer.negotiated.transport_cc);
  EXPECT_EQ(answer.negotiated.payload_types[96].clock_rate_hz, 90000u);
  // Audio is not in transport-cc's rates, so it does not count in the estimate.
  EXPECT_TRUE(answer.negotiated.payload_types[96].estimated);
  EXPECT_FALSE(answer.negotiated.payload_types[111].estimated);
}

TEST(SessionDescriptionTest, AnswerOfAnObserverHasNoRates) {
  const Answer answer = Complete(kAudioAnswer + kVideoAnswer + kTransportCc, false);
  EXPECT_FALSE(Contains(answer.sdp, "x-google"));
  EXPECT_TRUE(Contains(answer.sdp, "abs-send-time"));
}

TEST(SessionDescriptionTest, RatesFollowTheParametersOfACodec) {
  const Answer answer = Complete(kAudioAnswer + kVideoAnswer + "a=fmtp:96 profile-id=0\r\n");
  EXPECT_TRUE(
      Contains(answer.sdp, "a=fmtp:96 profile-id=0;x-google-start-bitrate=1500;x-google-max-bitrate=20000\r\n"));
}

TEST(SessionDescriptionTest, WithoutTransportCcOnlyVideoIsEstimated) {
  const Answer answer = Complete(kAudioAnswer + kVideoAnswer);
  EXPECT_FALSE(answer.negotiated.transport_cc);
  EXPECT_TRUE(answer.negotiated.payload_types[96].estimated);
  EXPECT_FALSE(answer.negotiated.payload_types[111].estimated);
}

TEST(SessionDescriptionTest, AnswerThatReceivesNoVideoIsUnchanged) {
  std::string sends = kAudioAnswer + kVideoAnswer;
  sends.replace(sends.rfind("recvonly"), 8, "sendonly");
  for (const std::string& sdp : {kAudioAnswer, sends, std::string("m=video 0 UDP/TLS/RTP/SAVPF 0\r\n"), std::string(),
                                 std::string("no session description"), std::string("m=")}) {
    const Answer answer = Complete(sdp);
    EXPECT_FALSE(answer.receives_video) << sdp;
    EXPECT_EQ(answer.sdp, sdp);
  }
}

TEST(SessionDescriptionTest, NumbersOutOfRangeAreIgnored) {
  const Answer answer = Complete(
      "m=video 9 UDP/TLS/RTP/SAVPF 300\r\na=rtpmap:300 VP8/90000\r\na=rtpmap:200 VP8/90000\r\n"
      "a=rtpmap:-1 VP8/90000\r\na=rtpmap: VP8\r\na=rtpmap:96 VP8/99999999999\r\n");
  EXPECT_EQ(answer.negotiated.payload_types[96].clock_rate_hz, 0u);
  EXPECT_EQ(ReadOffer("o=- 123456789012345678901 2 IN IP4 0\r\n").session_id, "");
  EXPECT_EQ(ReadOffer("o=\r\no=-").session_id, "");
  EXPECT_EQ(ReadOffer("m=video\r\na=extmap:0 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n")
                .abs_send_time[0],
            "");
}

TEST(SessionDescriptionTest, DamagedDescriptionsAreNoError) {
  std::mt19937 random(1);
  for (int i = 0; i < 5'000; ++i) {
    std::string offer = kOffer;
    std::string answer = kAudioAnswer + kVideoAnswer + kTransportCc;
    for (std::string* text : {&offer, &answer})
      for (int change = 0; change < 8; ++change) {
        const size_t at = random() % text->size();
        if (random() % 2)
          text->erase(at, random() % 20 + 1);
        else
          (*text)[at] = static_cast<char>(random());
      }
    const Answer completed = CompleteAnswer(answer, ReadOffer(offer), true);
    EXPECT_LE(completed.sdp.size(), answer.size() + 1'000);
  }
}

}  // namespace
}  // namespace weir::janus
