/* The receiver with its lock and timer, on a clock that the test sets, against the same packets handed to the library
 * directly: every REMB must be the same, byte for byte. */
#include "receiver.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>
#include <string.h>

enum { kSenderSsrc = 7, kLargestRemb = 1040 };

typedef struct Remb {
  gsize size;
  guint8 bytes[kLargestRemb];
} Remb;

typedef struct Call {
  GstTestClock* clock;
  WeirReceiver* receiver;
  weir_estimator* direct;
  GMutex lock;
  GQueue sent; /* Remb, by the receiver */
  guint64 compared;
} Call;

static void on_remb(gpointer argument, const guint8* packet, gsize size) {
  Call* call = argument;
  Remb* remb = g_new0(Remb, 1);
  remb->size = size;
  memcpy(remb->bytes, packet, size);
  g_mutex_lock(&call->lock);
  g_queue_push_tail(&call->sent, remb);
  g_mutex_unlock(&call->lock);
}

/* The timer's thread waits for the library's next timeout. */
static void wait_for_timer(Call* call) {
  const GstClockTime due = (GstClockTime)weir_estimator_next_timeout_us(call->direct) * GST_USECOND;
  const gint64 give_up_us = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;
  for (;;) {
    GstClockID id = NULL;
    const gboolean waits = gst_test_clock_peek_next_pending_id(call->clock, &id);
    const gboolean right = waits && gst_clock_id_get_time(id) == due;
    if (id != NULL) gst_clock_id_unref(id);
    if (right) return;
    fail_unless(g_get_monotonic_time() < give_up_us, "the timer does not wait for what is due");
    g_thread_yield();
  }
}

/* Both decide at the same time; `call->compared` counts the REMBs that were the same. */
static void decide(Call* call, gint64 now_us) {
  const gboolean due = (weir_estimator_on_timeout(call->direct, now_us, NULL) & WEIR_REMB_DUE) != 0;
  wait_for_timer(call);
  if (!due) return;
  guint8 expected[kLargestRemb];
  const int size = weir_estimator_write_remb(call->direct, kSenderSsrc, expected, sizeof expected);
  g_mutex_lock(&call->lock);
  Remb* remb = g_queue_pop_head(&call->sent);
  g_mutex_unlock(&call->lock);
  fail_unless(remb != NULL, "the receiver did not send what the library did");
  fail_unless_equals_int((int)remb->size, size);
  fail_unless(memcmp(remb->bytes, expected, remb->size) == 0, "REMB %" G_GUINT64_FORMAT, call->compared);
  g_free(remb);
  ++call->compared;
}

static gint64 now_us(const Call* call) { return (gint64)(gst_clock_get_time(GST_CLOCK(call->clock)) / GST_USECOND); }

static void run_until(Call* call, gint64 time_us) {
  for (;;) {
    const gint64 due_us = weir_estimator_next_timeout_us(call->direct);
    if (due_us > time_us) break;
    if (due_us > now_us(call)) {
      gst_test_clock_set_time(call->clock, (GstClockTime)due_us * GST_USECOND);
      gst_clock_id_unref(gst_test_clock_process_next_clock_id(call->clock));
    }
    decide(call, now_us(call));
  }
  gst_test_clock_set_time(call->clock, (GstClockTime)time_us * GST_USECOND);
}

static WeirSettings settings_of(const gchar* controller) {
  WeirSettings settings;
  weir_settings_init(&settings);
  settings.controller = (gchar*)controller; /* not freed: the settings are not cleared */
  return settings;
}

static void begin(Call* call, const gchar* name) {
  const WeirSettings settings = settings_of(name);
  memset(call, 0, sizeof *call);
  g_mutex_init(&call->lock);
  g_queue_init(&call->sent);
  call->clock = GST_TEST_CLOCK(gst_test_clock_new_with_start_time(GST_SECOND));
  gchar* error = NULL;
  call->receiver = weir_receiver_new(&settings, GST_CLOCK(call->clock), on_remb, call, &error);
  fail_unless(call->receiver != NULL, "%s", error);
  weir_controller* controller = NULL;
  fail_unless_equals_int(weir_controller_create_built_in(name, &controller), WEIR_OK);
  fail_unless_equals_int(weir_estimator_create(controller, NULL, &call->direct), WEIR_OK);
  weir_controller_destroy(controller);
  weir_receiver_begin(call->receiver, kSenderSsrc);
  decide(call, G_USEC_PER_SEC);
}

static void end(Call* call) {
  weir_receiver_free(call->receiver);
  fail_unless(g_queue_is_empty(&call->sent));
  weir_estimator_destroy(call->direct);
  gst_object_unref(call->clock);
  g_mutex_clear(&call->lock);
}

static void arrive(Call* call, gint64 time_us, weir_packet packet) {
  run_until(call, time_us);
  packet.arrival_time_us = time_us;
  weir_packet same = packet;
  same.arrival_time_us = 0; /* the receiver's to set */
  weir_estimator_on_packet(call->direct, &packet);
  weir_receiver_on_packet(call->receiver, &same);
  fail_unless_equals_int64(same.arrival_time_us, time_us);
  run_until(call, time_us);
  wait_for_timer(call);
}

/* 20 s of two streams over a path of 1 Mbps whose queue grows: their numbers wrap, every 50th packet is lost, every
 * 20th comes after the next one, and one stream ends. */
static void run_call(const gchar* controller) {
  Call call;
  begin(&call, controller);
  gint64 link_free_us = 0;
  for (guint i = 0; i < 2500; ++i) {
    const gint64 sent_us = G_USEC_PER_SEC + 8000 * (gint64)i;
    if (i % 50 == 49) continue;
    link_free_us = MAX(link_free_us, sent_us) + 8 * 1012; /* us: bytes at 1 Mbps, each 8 us */
    const guint number = i % 20 == 0 ? i + 1 : i % 20 == 1 ? i - 1 : i;
    const gboolean is_audio = i % 5 == 0 && i < 1500;
    const gint64 said_us = G_USEC_PER_SEC + 8000 * (gint64)number;
    arrive(&call, link_free_us + 25000,
           (weir_packet){.ssrc = is_audio ? 2 : 1,
                         .sequence_number = (guint16)(65000 + number),
                         .kind = is_audio ? WEIR_PACKET_AUDIO : WEIR_PACKET_VIDEO,
                         .has_abs_send_time = 1,
                         .abs_send_time = (guint32)(((guint64)said_us << 18) / 1000000) & 0xFFFFFF,
                         .header_bytes = 12,
                         .payload_bytes = 1000});
    if (i == 1500) {
      weir_receiver_remove_stream(call.receiver, 2);
      weir_estimator_remove_stream(call.direct, 2);
    }
  }
  run_until(&call, 25 * G_USEC_PER_SEC); /* and no packets */
  fail_unless(call.compared > 20, "only %" G_GUINT64_FORMAT " REMBs", call.compared);
  end(&call);
}

GST_START_TEST(test_rembs_are_those_of_the_library_rule) { run_call("rule"); }
GST_END_TEST

GST_START_TEST(test_rembs_are_those_of_the_library_nada) { run_call("nada"); }
GST_END_TEST

GST_START_TEST(test_nothing_is_sent_before_it_begins) {
  const WeirSettings settings = settings_of("rule");
  Call call = {0};
  gchar* error = NULL;
  GstClock* clock = gst_test_clock_new();
  WeirReceiver* receiver = weir_receiver_new(&settings, clock, on_remb, &call, &error);
  fail_unless_equals_int64(weir_receiver_bitrate(receiver), settings.start_bitrate);
  fail_if(gst_test_clock_peek_next_pending_id(GST_TEST_CLOCK(clock), NULL));
  weir_receiver_free(receiver);
  fail_unless(g_queue_is_empty(&call.sent));
  gst_object_unref(clock);
}
GST_END_TEST

static Suite* receiver_suite(void) {
  Suite* result = suite_create("receiver");
  TCase* tests = tcase_create("all");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(result, tests);
  tcase_add_test(tests, test_rembs_are_those_of_the_library_rule);
  tcase_add_test(tests, test_rembs_are_those_of_the_library_nada);
  tcase_add_test(tests, test_nothing_is_sent_before_it_begins);
  return result;
}

GST_CHECK_MAIN(receiver)
