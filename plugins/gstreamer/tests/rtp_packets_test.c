/* RTP as it comes from GStreamer, hostile too. */
#include "rtp_packets.h"

#include <gst/check/gstcheck.h>
#include <gst/rtp/rtp.h>

static const WeirPayloadType kVideo = {TRUE, WEIR_PACKET_VIDEO, 3, 90000};

static GstBuffer* rtp_buffer(guint payload_bytes, guint8 padding_bytes) {
  GstBuffer* buffer = gst_rtp_buffer_new_allocate(payload_bytes, padding_bytes, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gst_rtp_buffer_map(buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type(&rtp, 96);
  gst_rtp_buffer_set_seq(&rtp, 65535);
  gst_rtp_buffer_set_ssrc(&rtp, 0xFEDCBA98);
  gst_rtp_buffer_set_timestamp(&rtp, 0xFFFFFFFF);
  gst_rtp_buffer_unmap(&rtp);
  return buffer;
}

static GstBuffer* with_send_time(GstBuffer* buffer, gboolean two_bytes, guint size) {
  const guint8 time[4] = {0x12, 0x34, 0x56, 0x78};
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gst_rtp_buffer_map(buffer, GST_MAP_READWRITE, &rtp);
  if (two_bytes)
    gst_rtp_buffer_add_extension_twobytes_header(&rtp, 0, 3, time, size);
  else
    gst_rtp_buffer_add_extension_onebyte_header(&rtp, 3, time, size);
  gst_rtp_buffer_unmap(&rtp);
  return buffer;
}

static weir_packet read_and_unref(GstBuffer* buffer) {
  weir_packet packet;
  fail_unless_equals_int(weir_payload_type_of(buffer), 96);
  fail_unless(weir_read_packet(buffer, &kVideo, &packet));
  gst_buffer_unref(buffer);
  return packet;
}

GST_START_TEST(test_reads_what_the_header_says) {
  const weir_packet packet = read_and_unref(rtp_buffer(1000, 20));
  fail_unless_equals_int(packet.ssrc, 0xFEDCBA98);
  fail_unless_equals_int(packet.sequence_number, 65535);
  fail_unless_equals_int(packet.payload_type, 96);
  fail_unless_equals_int64(packet.rtp_timestamp, 0xFFFFFFFF);
  fail_unless_equals_int(packet.rtp_clock_rate_hz, 90000);
  fail_unless_equals_int(packet.header_bytes, 12);
  fail_unless_equals_int(packet.payload_bytes, 1000);
  fail_unless_equals_int(packet.padding_bytes, 20);
  fail_unless_equals_int(packet.kind, WEIR_PACKET_VIDEO);
  fail_unless_equals_int(packet.has_abs_send_time, 0);
  fail_unless_equals_int(read_and_unref(rtp_buffer(0, 200)).kind, WEIR_PACKET_PROBE);
}
GST_END_TEST

GST_START_TEST(test_reads_send_times_of_both_forms) {
  for (int two_bytes = 0; two_bytes < 2; ++two_bytes) {
    const weir_packet packet = read_and_unref(with_send_time(rtp_buffer(100, 0), two_bytes, 3));
    fail_unless_equals_int(packet.has_abs_send_time, 1);
    fail_unless_equals_int(packet.abs_send_time, 0x123456);
    fail_unless_equals_int(packet.header_bytes + packet.payload_bytes, 100 + 12 + 4 + (two_bytes ? 8 : 4));
    fail_unless_equals_int(read_and_unref(with_send_time(rtp_buffer(100, 0), two_bytes, 4)).has_abs_send_time, 0);
  }
}
GST_END_TEST

GST_START_TEST(test_refuses_what_is_no_rtp) {
  weir_packet packet;
  for (guint size = 0; size < 64; ++size) {
    for (guint first = 0; first < 256; first += 5) {
      GstBuffer* buffer = gst_buffer_new_allocate(NULL, size, NULL);
      gst_buffer_memset(buffer, 0, (guint8)first, size);
      const gboolean read = weir_payload_type_of(buffer) >= 0 && weir_read_packet(buffer, &kVideo, &packet);
      if (read) fail_unless_equals_int(packet.header_bytes + packet.payload_bytes + packet.padding_bytes, size);
      if (size < 12 || first >> 6 != 2) fail_if(read);
      gst_buffer_unref(buffer);
    }
  }
}
GST_END_TEST

static WeirPayloadType of_caps(const gchar* text) {
  GstCaps* caps = text == NULL ? NULL : gst_caps_from_string(text);
  const WeirPayloadType type = weir_payload_type_from_caps(caps);
  if (caps != NULL) gst_caps_unref(caps);
  fail_unless(type.known);
  return type;
}

GST_START_TEST(test_caps_say_what_a_payload_type_is) {
  const gchar* extension = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
  gchar* text = g_strdup_printf(
      "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,extmap-1=\"urn:else\",extmap-3=\"%s\"",
      extension);
  WeirPayloadType type = of_caps(text);
  g_free(text);
  fail_unless_equals_int(type.kind, WEIR_PACKET_VIDEO);
  fail_unless_equals_int(type.abs_send_time_id, 3);
  fail_unless_equals_int(type.clock_rate_hz, 90000);
  text = g_strdup_printf("application/x-rtp,media=audio,extmap-14=<(string)\"sendrecv\",(string)\"%s\",(string)\"\">",
                         extension);
  type = of_caps(text);
  g_free(text);
  fail_unless_equals_int(type.kind, WEIR_PACKET_AUDIO);
  fail_unless_equals_int(type.abs_send_time_id, 14);
  fail_unless_equals_int(of_caps("application/x-rtp,media=video,encoding-name=RTX").kind, WEIR_PACKET_RETRANSMISSION);
  fail_unless_equals_int(of_caps("application/x-rtp,extmap-300=\"urn:else\"").abs_send_time_id, 0);
  fail_unless_equals_int(of_caps(NULL).clock_rate_hz, 0);
}
GST_END_TEST

static Suite* rtp_packets_suite(void) {
  Suite* result = suite_create("rtp_packets");
  TCase* tests = tcase_create("all");
  suite_add_tcase(result, tests);
  tcase_add_test(tests, test_reads_what_the_header_says);
  tcase_add_test(tests, test_reads_send_times_of_both_forms);
  tcase_add_test(tests, test_refuses_what_is_no_rtp);
  tcase_add_test(tests, test_caps_say_what_a_payload_type_is);
  return result;
}

GST_CHECK_MAIN(rtp_packets)
