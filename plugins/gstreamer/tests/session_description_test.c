/* The changes of webrtcbin's answer. */
#include "session_description.h"

#include <gst/check/gstcheck.h>

static const char kOffer[] =
    "v=0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=rtpmap:111 opus/48000/2\r\n"
    "a=rtcp-fb:111 transport-cc\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=rtcp-rsize\r\n"
    "a=rtpmap:96 VP8/90000\r\n"
    "a=rtcp-fb:96 goog-remb\r\n"
    "a=rtcp-fb:96 transport-cc\r\n"
    "a=rtpmap:97 rtx/90000\r\n"
    "a=fmtp:97 apt=96\r\n"
    "a=rtpmap:102 H264/90000\r\n"
    "a=rtcp-fb:102 goog-remb\r\n";

static const char kAnswer[] =
    "v=0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=rtpmap:111 OPUS/48000/2\r\n"
    "a=rtcp-fb:111 transport-cc\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
    "a=rtpmap:96 VP8/90000\r\n"
    "a=setup:active\r\n"
    "a=rtcp-fb:96 nack pli\r\n"
    "a=rtcp-fb:96 transport-cc\r\n"
    "a=rtpmap:97 rtx/90000\r\n"
    "a=fmtp:97 apt=96\r\n"
    "a=rtpmap:102 H264/90000\r\n"
    "a=fmtp:102 packetization-mode=1\r\n";

static const char kExpected[] =
    "v=0\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=rtpmap:111 OPUS/48000/2\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
    "a=rtcp-rsize\r\n"
    "a=rtpmap:96 VP8/90000\r\n"
    "a=rtcp-fb:96 goog-remb\r\n"
    "a=fmtp:96 x-google-start-bitrate=300;x-google-max-bitrate=20000\r\n"
    "a=setup:passive\r\n"
    "a=rtcp-fb:96 nack pli\r\n"
    "a=rtpmap:97 rtx/90000\r\n"
    "a=fmtp:97 apt=96\r\n"
    "a=rtpmap:102 H264/90000\r\n"
    "a=rtcp-fb:102 goog-remb\r\n"
    "a=fmtp:102 packetization-mode=1;x-google-start-bitrate=300;x-google-max-bitrate=20000\r\n";

GST_START_TEST(test_transport_cc_goes_and_remb_comes) {
  gchar* answer = weir_answer_with_remb(kOffer, kAnswer, 300);
  fail_unless_equals_string(answer, kExpected);
  gchar* again = weir_answer_with_remb(kOffer, kExpected, 300);
  fail_unless(strstr(again, "transport-cc") == NULL);
  g_free(again);
  g_free(answer);
}
GST_END_TEST

GST_START_TEST(test_nothing_is_answered_that_was_not_offered) {
  gchar* answer = weir_answer_with_remb("v=0\r\nm=audio 9 RTP/SAVPF 111\r\nm=video 9 RTP/SAVPF 96\r\n", kAnswer, 300);
  fail_unless(strstr(answer, "goog-remb") == NULL);
  fail_unless(strstr(answer, "abs-send-time") == NULL);
  fail_unless(strstr(answer, "rtcp-rsize") == NULL);
  g_free(answer);
}
GST_END_TEST

GST_START_TEST(test_anything_may_be_in_it) {
  const gchar* const texts[] = {"",  "\n\n", "m=video", "a=rtpmap:999 VP8/1\r\na=fmtp:-1 x", "m=video\na=rtpmap: VP8/",
                                "a="};
  for (guint i = 0; i < G_N_ELEMENTS(texts); ++i) {
    g_free(weir_answer_with_remb(texts[i], kAnswer, 300));
    g_free(weir_answer_with_remb(kOffer, texts[i], 300));
  }
}
GST_END_TEST

static Suite* session_description_suite(void) {
  Suite* result = suite_create("session_description");
  TCase* tests = tcase_create("all");
  suite_add_tcase(result, tests);
  tcase_add_test(tests, test_transport_cc_goes_and_remb_comes);
  tcase_add_test(tests, test_nothing_is_answered_that_was_not_offered);
  tcase_add_test(tests, test_anything_may_be_in_it);
  return result;
}

GST_CHECK_MAIN(session_description)
