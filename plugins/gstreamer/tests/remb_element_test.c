/* `weirremb` beside a real rtpbin: what it sends another rtpbin's session reads; it is taken away under load; what is
 * wrong is said on the bus. In real time, for as long as it takes. */
#include <gst/check/gstcheck.h>
#include <gst/rtp/rtp.h>
#include <string.h>

#include "elements.h"

static const char kCaps[] =
    "application/x-rtp,media=video,payload=96,clock-rate=90000,encoding-name=VP8,"
    "extmap-3=\"http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\"";

static GstCaps* on_pt_map(GstElement* rtpbin, guint session, guint pt, gpointer unused) {
  (void)rtpbin, (void)session, (void)pt, (void)unused;
  return gst_caps_from_string(kCaps);
}

typedef struct Receiver {
  GstElement* pipeline;
  GstElement* rtpbin;
  GstElement* weir;
  GstPad* source; /* pushes into the session */
  gint stop;      /* atomic */
} Receiver;

static void on_new_stream(GstElement* rtpbin, GstPad* pad, GstElement* pipeline) {
  (void)rtpbin;
  if (!g_str_has_prefix(GST_PAD_NAME(pad), "recv_rtp_src_")) return;
  GstElement* sink = gst_element_factory_make("fakesink", NULL);
  g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add(GST_BIN(pipeline), sink);
  gst_element_sync_state_with_parent(sink);
  GstPad* sink_pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_link(pad, sink_pad);
  gst_object_unref(sink_pad);
}

/* A pipeline in PLAYING whose RTCP goes to a pad of `rtcp_sink`; weirremb stays below READY. */
static void set_up(Receiver* receiver, GstElement* rtcp_sink, const gchar* pad_name) {
  memset(receiver, 0, sizeof *receiver);
  receiver->pipeline = gst_pipeline_new(NULL);
  receiver->rtpbin = gst_element_factory_make("rtpbin", NULL);
  g_signal_connect(receiver->rtpbin, "request-pt-map", G_CALLBACK(on_pt_map), NULL);
  g_signal_connect(receiver->rtpbin, "pad-added", G_CALLBACK(on_new_stream), receiver->pipeline);
  receiver->weir = g_object_new(weir_remb_get_type(), "rtpbin", receiver->rtpbin, "controller", "rule", NULL);
  gst_element_set_locked_state(receiver->weir, TRUE);
  gst_bin_add_many(GST_BIN(receiver->pipeline), receiver->rtpbin, receiver->weir, rtcp_sink, NULL);
  GstPad* sink = gst_element_request_pad_simple(receiver->rtpbin, "recv_rtp_sink_0");
  fail_unless(gst_element_link_pads(receiver->rtpbin, "send_rtcp_src_0", rtcp_sink, pad_name));
  receiver->source = gst_pad_new("src", GST_PAD_SRC);
  gst_pad_set_active(receiver->source, TRUE);
  fail_unless_equals_int(gst_pad_link(receiver->source, sink), GST_PAD_LINK_OK);
  gst_object_unref(sink);
  gst_element_set_state(receiver->pipeline, GST_STATE_PLAYING);
  GstCaps* caps = gst_caps_from_string(kCaps);
  gst_check_setup_events(receiver->source, receiver->rtpbin, caps, GST_FORMAT_TIME);
  gst_caps_unref(caps);
}

static void tear_down(Receiver* receiver) {
  gst_element_set_state(receiver->weir, GST_STATE_NULL);
  gst_element_set_state(receiver->pipeline, GST_STATE_NULL);
  gst_object_unref(receiver->source);
  gst_object_unref(receiver->pipeline);
}

static GstFlowReturn push_packet(Receiver* receiver, guint number) {
  GstBuffer* buffer = gst_rtp_buffer_new_allocate(1000, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  const guint64 now_us = (guint64)g_get_monotonic_time();
  guint8 send_time[3];
  GST_WRITE_UINT24_BE(send_time, ((now_us << 18) / 1000000) & 0xFFFFFF);
  gst_rtp_buffer_map(buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type(&rtp, 96);
  gst_rtp_buffer_set_ssrc(&rtp, 0xABCD);
  gst_rtp_buffer_set_seq(&rtp, (guint16)(65500 + number));
  gst_rtp_buffer_set_timestamp(&rtp, (guint32)(now_us * 9 / 100));
  gst_rtp_buffer_add_extension_onebyte_header(&rtp, 3, send_time, sizeof send_time);
  gst_rtp_buffer_unmap(&rtp);
  return gst_pad_push(receiver->source, buffer);
}

static gpointer push_packets(gpointer argument) {
  Receiver* receiver = argument;
  for (guint i = 0; !g_atomic_int_get(&receiver->stop); ++i) {
    push_packet(receiver, i);
    if (i % 64 == 63) g_usleep(500); /* as load, not as a flood that no queue holds */
  }
  return NULL;
}

static void on_feedback(GObject* session, guint type, guint format, guint sender, guint media, GstBuffer* fci,
                        GAsyncQueue* rembs) {
  (void)session, (void)sender;
  if (type != GST_RTCP_TYPE_PSFB || format != GST_RTCP_PSFB_TYPE_AFB || fci == NULL) return;
  GstMapInfo map;
  gst_buffer_map(fci, &map, GST_MAP_READ);
  if (media == 0) g_async_queue_push(rembs, g_bytes_new(map.data, map.size));
  gst_buffer_unmap(fci, &map);
}

/* An rtpbin that receives RTCP and queues the GBytes of each REMB, without the two SSRCs. */
static GstElement* make_hearer(GAsyncQueue* rembs) {
  GstElement* rtpbin = gst_element_factory_make("rtpbin", "hearer");
  gst_object_unref(gst_element_request_pad_simple(rtpbin, "recv_rtcp_sink_0"));
  GObject* session = NULL;
  g_signal_emit_by_name(rtpbin, "get-internal-session", 0, &session);
  g_signal_connect(session, "on-feedback-rtcp", G_CALLBACK(on_feedback), rembs);
  g_object_unref(session);
  return rtpbin;
}

/* draft-alvestrand-rmcat-remb-03: "REMB", the number of SSRCs, 6 bits of exponent, 18 of mantissa, the SSRCs. */
static guint64 rate_of(GBytes* fci, guint32* ssrc, guint* ssrcs) {
  gsize size = 0;
  const guint8* data = g_bytes_get_data(fci, &size);
  fail_unless(size >= 8 && memcmp(data, "REMB", 4) == 0);
  *ssrcs = data[4];
  fail_unless_equals_int((int)size, 8 + 4 * data[4]);
  *ssrc = *ssrcs > 0 ? GST_READ_UINT32_BE(data + 8) : 0;
  return (guint64)((data[5] & 3) << 16 | data[6] << 8 | data[7]) << (data[5] >> 2);
}

GST_START_TEST(test_a_session_reads_what_is_sent) {
  GAsyncQueue* rembs = g_async_queue_new_full((GDestroyNotify)g_bytes_unref);
  Receiver receiver;
  set_up(&receiver, make_hearer(rembs), "recv_rtcp_sink_0");
  gst_element_set_locked_state(receiver.weir, FALSE);
  fail_unless(gst_element_sync_state_with_parent(receiver.weir));
  GThread* load = g_thread_new("load", push_packets, &receiver);
  guint ssrcs = 0;
  guint32 ssrc = 0;
  guint64 highest = 0;
  /* The first may come before any stream; then it names the one there is, and its rate rises from the start rate. */
  for (int i = 0; i < 200 && (ssrcs != 1 || highest <= 300000); ++i) {
    GBytes* fci = g_async_queue_timeout_pop(rembs, 20 * G_TIME_SPAN_SECOND);
    fail_unless(fci != NULL, "no REMB within 20 s");
    highest = MAX(highest, rate_of(fci, &ssrc, &ssrcs));
    g_bytes_unref(fci);
  }
  fail_unless_equals_int(ssrcs, 1);
  fail_unless_equals_int(ssrc, 0xABCD);
  fail_unless(highest > 300000, "%" G_GUINT64_FORMAT, highest);
  GstStructure* statistics = NULL;
  gint64 received = 0;
  g_object_get(receiver.weir, "stats", &statistics, NULL);
  fail_unless(gst_structure_get_int64(statistics, "packets-received", &received) && received > 0);
  gst_structure_free(statistics);
  g_atomic_int_set(&receiver.stop, TRUE);
  g_thread_join(load);
  tear_down(&receiver);
  g_async_queue_unref(rembs);
}
GST_END_TEST

GST_START_TEST(test_it_comes_and_goes_under_load) {
  Receiver receiver;
  GstElement* sink = gst_element_factory_make("fakesink", NULL);
  g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
  set_up(&receiver, sink, "sink");
  GThread* load = g_thread_new("load", push_packets, &receiver);
  for (int i = 0; i < 200; ++i) {
    fail_unless_equals_int(gst_element_set_state(receiver.weir, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    if (i % 2 == 1) g_usleep(2000); /* so that packets are under way; else none may be */
    GstStructure* statistics = NULL;
    g_object_get(receiver.weir, "stats", &statistics, NULL);
    fail_unless(statistics != NULL);
    gst_structure_free(statistics);
    fail_unless_equals_int(gst_element_set_state(receiver.weir, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    g_object_get(receiver.weir, "stats", &statistics, NULL);
    fail_unless(statistics == NULL);
  }
  g_atomic_int_set(&receiver.stop, TRUE);
  g_thread_join(load);
  tear_down(&receiver);
}
GST_END_TEST

static void expect_error(GstElement* element, const gchar* said) {
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  fail_unless(message != NULL);
  GError* error = NULL;
  gst_message_parse_error(message, &error, NULL);
  fail_unless(strstr(error->message, said) != NULL, "%s", error->message);
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_object_unref(bus);
  gst_object_unref(element);
}

GST_START_TEST(test_what_is_wrong_is_said_on_the_bus) {
  GstElement* rtpbin = gst_element_factory_make("rtpbin", NULL);
  GstElement* other = gst_element_factory_make("fakesink", NULL);
  expect_error(g_object_new(weir_remb_get_type(), NULL), "no webrtcbin and no rtpbin");
  expect_error(g_object_new(weir_remb_get_type(), "rtpbin", other, NULL), "no webrtcbin and no rtpbin");
  expect_error(g_object_new(weir_remb_get_type(), "rtpbin", rtpbin, "controller", "nobody", NULL), "nobody");
  expect_error(g_object_new(weir_remb_get_type(), "rtpbin", rtpbin, "model", "no/such/file.onnx", NULL), "no/such");
  expect_error(g_object_new(weir_remb_get_type(), "rtpbin", rtpbin, "model", __FILE__, NULL), "remb_element_test.c");
  gst_object_unref(rtpbin);
  gst_object_unref(other);
}
GST_END_TEST

GST_START_TEST(test_the_shipped_model_is_there_and_the_objective_can_be_moved) {
  GstElement* rtpbin = gst_element_factory_make("rtpbin", NULL);
  GstElement* element = g_object_new(weir_remb_get_type(), "rtpbin", rtpbin, "worker", TRUE, NULL);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gboolean worker = FALSE;
  guint bitrate = 0;
  gfloat weight = 0;
  g_object_set(element, "latency-weight", 0.9f, NULL);
  g_object_get(element, "estimated-bitrate", &bitrate, "latency-weight", &weight, "worker", &worker, NULL);
  fail_unless(worker);
  fail_unless_equals_int(bitrate, 300000);
  fail_unless_equals_float(weight, 0.9f);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
  gst_object_unref(rtpbin);
}
GST_END_TEST

static Suite* remb_element_suite(void) {
  Suite* result = suite_create("remb_element");
  TCase* tests = tcase_create("all");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(result, tests);
  tcase_add_test(tests, test_a_session_reads_what_is_sent);
  tcase_add_test(tests, test_it_comes_and_goes_under_load);
  tcase_add_test(tests, test_what_is_wrong_is_said_on_the_bus);
  tcase_add_test(tests, test_the_shipped_model_is_there_and_the_objective_can_be_moved);
  return result;
}

GST_CHECK_MAIN(remb_element)
