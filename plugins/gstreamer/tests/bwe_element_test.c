/* `rtpweirbwe` in a harness with rtpsession's events, against the library with the same input. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <string.h>
#include <weir.h>

#include "elements.h"

/* GValueArray is what rtpsession has. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS

enum { kStep = 10000 /* us between two packets */, kSize = 1000, kFirst = 65400 };

/* One packet as the event of rtpsession has it; remote_us < 0: lost. */
static void add_packet(GValueArray* packets, guint16 number, gint64 local_us, gint64 remote_us) {
  GstStructure* packet = gst_structure_new(
      "RTPTWCCPacket", "seqnum", G_TYPE_UINT, (guint)number, "local-ts", G_TYPE_UINT64, (guint64)local_us * GST_USECOND,
      "remote-ts", G_TYPE_UINT64, remote_us < 0 ? GST_CLOCK_TIME_NONE : (guint64)remote_us * GST_USECOND,
      "payload-type", G_TYPE_UCHAR, 96, "size", G_TYPE_UINT, kSize, "lost", G_TYPE_BOOLEAN, remote_us < 0, NULL);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, packet);
  g_value_array_append(packets, &value);
  g_value_unset(&value);
}

static GstEvent* event_of(GValueArray* packets) {
  GstStructure* told = gst_structure_new_empty("RTPTWCCPackets");
  GValue value = G_VALUE_INIT;
  g_value_init(&value, g_type_from_name("GValueArray"));
  g_value_take_boxed(&value, packets);
  gst_structure_take_value(told, "packets", &value);
  return gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, told);
}

typedef struct Call {
  GstTestClock* clock;
  GstHarness* harness;
  weir_send_side* direct;
  gint64 queue_us; /* that packets meet from now on */
} Call;

static void begin(Call* call) {
  call->queue_us = 0;
  call->clock = GST_TEST_CLOCK(gst_test_clock_new_with_start_time(GST_SECOND));
  gst_system_clock_set_default(GST_CLOCK(call->clock));
  GstElement* element = g_object_new(weir_bwe_get_type(), "controller", "rule", NULL);
  call->harness = gst_harness_new_with_element(element, "sink", "src");
  gst_harness_set_src_caps_str(call->harness, "application/x-rtp");
  gst_object_unref(element);
  weir_controller* controller = NULL;
  fail_unless_equals_int(weir_controller_create_built_in("rule", &controller), WEIR_OK);
  fail_unless_equals_int(weir_send_side_create(controller, NULL, 0, &call->direct), WEIR_OK);
  weir_controller_destroy(controller);
}

static void end(Call* call) {
  gst_harness_teardown(call->harness);
  weir_send_side_destroy(call->direct);
  gst_system_clock_set_default(NULL);
  gst_object_unref(call->clock);
}

static guint estimated(const Call* call) {
  guint bitrate = 0;
  g_object_get(call->harness->element, "estimated-bitrate", &bitrate, NULL);
  return bitrate;
}

static gint congestion_state(const Call* call) {
  gint state = -1;
  g_object_get(call->harness->element, "congestion-state", &state, NULL);
  return state;
}

static void expect_same_estimate(const Call* call) {
  weir_send_side_rates rates = {0};
  weir_network_state state = {0};
  weir_send_side_get_rates(call->direct, &rates);
  weir_send_side_get_network_state(call->direct, &state);
  fail_unless_equals_int64((gint64)estimated(call), rates.target_rate_bps);
  fail_unless_equals_int(congestion_state(call), state.state);
}

static gint64 sent_us(guint i) { return G_USEC_PER_SEC + (gint64)kStep * i; }

static gboolean is_lost(guint i) { return i % 37 == 36; }

/* Feedback of the ten packets from `first` on, which reached the sender 60 ms after the last was sent. */
static void feed_back(Call* call, guint first, gboolean feedback_is_lost) {
  const gint64 now_us = sent_us(first + 9) + 60000 + call->queue_us;
  gst_test_clock_set_time(call->clock, (GstClockTime)now_us * GST_USECOND);
  weir_packet_feedback feedback[10];
  GValueArray* packets = g_value_array_new(10);
  for (guint i = first; i < first + 10; ++i) {
    const guint16 number = (guint16)(kFirst + i);
    /* By a clock of its own. Every seventh is overtaken by the next. */
    const gint64 delay_us = 3600 * (gint64)G_USEC_PER_SEC + call->queue_us + (i % 7 == 6 ? kStep + 500 : 0);
    const gint64 arrived_us = is_lost(i) ? -1 : sent_us(i) + delay_us;
    add_packet(packets, number, sent_us(i), arrived_us);
    const weir_sent_packet sent = {
        .send_time_us = sent_us(i), .size_bytes = kSize, .sequence_number = number, .kind = WEIR_PACKET_VIDEO};
    weir_send_side_on_sent_packet(call->direct, &sent);
    feedback[i - first] = (weir_packet_feedback){.receive_time_us = is_lost(i) ? 0 : arrived_us,
                                                 .sequence_number = number,
                                                 .fate = is_lost(i) ? WEIR_PACKET_LOST : WEIR_PACKET_RECEIVED};
  }
  if (feedback_is_lost) {
    g_value_array_free(packets);
    return;
  }
  weir_send_side_on_transport_feedback(call->direct, feedback, 10, now_us);
  gst_harness_push_upstream_event(call->harness, event_of(packets));
  expect_same_estimate(call);
}

GST_START_TEST(test_rates_are_those_of_the_library) {
  Call call;
  begin(&call);
  fail_unless_equals_int(estimated(&call), 300000);
  /* 20 s: numbers wrap, packets are lost and out of order, one in eight feedbacks does not come. */
  for (guint first = 0; first < 2000; first += 10) feed_back(&call, first, first % 80 == 50);
  fail_unless(estimated(&call) > 600000, "%u", estimated(&call));
  end(&call);
}
GST_END_TEST

static void on_state(GstElement* element, GParamSpec* specification, GArray* states) {
  gint state = -1;
  (void)specification;
  g_object_get(element, "congestion-state", &state, NULL);
  g_array_append_val(states, state);
}

GST_START_TEST(test_states_of_the_path_notify) {
  Call call;
  begin(&call);
  GArray* states = g_array_new(FALSE, FALSE, sizeof(gint));
  g_signal_connect(call.harness->element, "notify::congestion-state", G_CALLBACK(on_state), states);
  fail_unless_equals_int(congestion_state(&call), WEIR_CONGESTION_NORMAL);
  for (guint first = 0; first < 500; first += 10) {
    call.queue_us = first < 200 || first >= 300 ? 0 : 50000;
    feed_back(&call, first, FALSE);
    if (first != 290) continue;
    GstStructure* statistics = NULL;
    gint state = -1;
    gint64 capacity_bps = 0;
    g_object_get(call.harness->element, "stats", &statistics, NULL);
    fail_unless(gst_structure_get_int64(statistics, "link-capacity", &capacity_bps) && capacity_bps > 0);
    fail_unless(
        gst_structure_get_enum(statistics, "congestion-state", g_type_from_name("WeirCongestionState"), &state));
    fail_unless_equals_int(state, WEIR_CONGESTION_CONGESTED);
    gst_structure_free(statistics);
  }
  const gint expected[] = {WEIR_CONGESTION_EARLY_WARNING, WEIR_CONGESTION_CONGESTED, WEIR_CONGESTION_NORMAL};
  fail_unless_equals_int(states->len, G_N_ELEMENTS(expected));
  fail_unless(memcmp(states->data, expected, sizeof expected) == 0);
  g_array_unref(states);
  end(&call);
}
GST_END_TEST

static guint64 counter(const Call* call, const gchar* name) {
  GstStructure* statistics = NULL;
  guint64 value = 0;
  g_object_get(call->harness->element, "stats", &statistics, NULL);
  fail_unless(gst_structure_get_uint64(statistics, name, &value));
  gst_structure_free(statistics);
  return value;
}

GST_START_TEST(test_lost_feedback_is_no_loss) {
  Call call;
  begin(&call);
  for (guint first = 0; first < 500; first += 10) feed_back(&call, first, first % 80 == 50);
  guint expected = 0;
  for (guint i = 0; i < 500; ++i) expected += is_lost(i) && i / 10 * 10 % 80 != 50;
  fail_unless_equals_uint64(counter(&call, "packets-lost"), expected);
  fail_unless_equals_uint64(counter(&call, "packets-fate-unknown"), 60);
  fail_unless_equals_uint64(counter(&call, "packets-invalid"), 0);
  end(&call);
}
GST_END_TEST

static void depart(Call* call, guint i) {
  gst_test_clock_set_time(call->clock, (GstClockTime)sent_us(i) * GST_USECOND);
  fail_unless_equals_int(gst_harness_push(call->harness, gst_harness_create_buffer(call->harness, 100)), GST_FLOW_OK);
  gst_buffer_unref(gst_harness_pull(call->harness));
}

GST_START_TEST(test_in_silence_departures_lower_the_rate) {
  Call call;
  begin(&call);
  for (guint first = 0; first < 500; first += 10) feed_back(&call, first, FALSE);
  const guint before = estimated(&call);
  for (guint i = 510; i < 810; ++i) depart(&call, i);
  fail_unless(estimated(&call) < before / 2, "%u after %u", estimated(&call), before);
  fail_unless_equals_int(congestion_state(&call), WEIR_CONGESTION_CONGESTED);
  /* Feedback comes again: the packets count once, those under the numbers of departures without feedback as unknown. */
  const guint64 received = counter(&call, "packets-received");
  GValueArray* packets = g_value_array_new(310);
  for (guint i = 500; i < 810; ++i)
    add_packet(packets, (guint16)(kFirst + i), sent_us(i), sent_us(i) + 3600 * (gint64)G_USEC_PER_SEC);
  gst_harness_push_upstream_event(call.harness, event_of(packets));
  fail_unless_equals_uint64(counter(&call, "packets-fate-unknown"), 2);
  fail_unless_equals_uint64(counter(&call, "packets-received"), received + 308);
  fail_unless_equals_uint64(counter(&call, "packets-invalid"), 0);
  end(&call);
}
GST_END_TEST

GST_START_TEST(test_packets_after_pauses_are_received) {
  Call call;
  begin(&call);
  for (guint first = 0; first < 500; first += 10) feed_back(&call, first, FALSE);
  const guint64 received = counter(&call, "packets-received");
  for (guint i = 540; i < 1740; i += 40) { /* each after a pause of 400 ms */
    depart(&call, i);
    GValueArray* packets = g_value_array_new(1);
    add_packet(packets, (guint16)(kFirst + 500 + (i - 540) / 40), sent_us(i) + 1000,
               sent_us(i) + 3600 * (gint64)G_USEC_PER_SEC);
    gst_test_clock_set_time(call.clock, (GstClockTime)(sent_us(i) + 60000) * GST_USECOND);
    gst_harness_push_upstream_event(call.harness, event_of(packets));
    fail_unless_equals_int(congestion_state(&call), WEIR_CONGESTION_NORMAL);
  }
  fail_unless_equals_uint64(counter(&call, "packets-received"), received + 30);
  fail_unless_equals_uint64(counter(&call, "packets-fate-unknown"), 0);
  end(&call);
}
GST_END_TEST

GST_START_TEST(test_packets_go_through_as_they_are_alone_and_in_lists) {
  Call call;
  begin(&call);
  GstBuffer* buffer = gst_harness_create_buffer(call.harness, 100);
  GstBufferList* list = gst_buffer_list_new();
  for (int i = 0; i < 3; ++i) gst_buffer_list_add(list, gst_buffer_ref(buffer));
  fail_unless_equals_int(gst_pad_push_list(call.harness->srcpad, list), GST_FLOW_OK);
  fail_unless_equals_int(gst_harness_push(call.harness, gst_buffer_ref(buffer)), GST_FLOW_OK);
  for (int i = 0; i < 4; ++i) {
    GstBuffer* out = gst_harness_pull(call.harness);
    fail_unless(out == buffer);
    gst_buffer_unref(out);
  }
  gst_buffer_unref(buffer);
  end(&call);
}
GST_END_TEST

GST_START_TEST(test_anything_may_be_in_an_event) {
  Call call;
  begin(&call);
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(call.harness->element, bus);
  gst_harness_push_upstream_event(
      call.harness, gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("RTPTWCCPackets")));
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  fail_unless(message != NULL, "no message about an event without packets");
  gst_message_unref(message);
  GValueArray* packets = g_value_array_new(2);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_INT);
  g_value_array_append(packets, &value);
  add_packet(packets, 9, -1, 5);
  gst_harness_push_upstream_event(call.harness, event_of(packets));
  fail_unless_equals_int(estimated(&call), 300000);
  gst_element_set_bus(call.harness->element, NULL);
  gst_object_unref(bus);
  end(&call);
}
GST_END_TEST

GST_START_TEST(test_a_model_that_cannot_be_read_is_an_error_on_the_bus) {
  GstElement* element = g_object_new(weir_bwe_get_type(), "model", "no/such/file.onnx", NULL);
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  GError* error = NULL;
  gst_message_parse_error(message, &error, NULL);
  fail_unless(strstr(error->message, "no/such/file.onnx") != NULL, "%s", error->message);
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_object_unref(bus);
  gst_object_unref(element);
}
GST_END_TEST

typedef struct Load {
  GstElement* element;
  gint stop; /* atomic */
} Load;

/* Without regard for the element's state. */
static gpointer feed_back_always(gpointer argument) {
  Load* load = argument;
  GstPad* source = gst_element_get_static_pad(load->element, "src");
  for (guint i = 0; !g_atomic_int_get(&load->stop); ++i) {
    const gint64 now_us = g_get_monotonic_time();
    GValueArray* packets = g_value_array_new(1);
    add_packet(packets, (guint16)i, now_us, now_us);
    gst_pad_send_event(source, event_of(packets));
  }
  gst_object_unref(source);
  return NULL;
}

GST_START_TEST(test_it_comes_and_goes_under_load) {
  Load load = {.element = g_object_new(weir_bwe_get_type(), "controller", "rule", NULL)};
  GThread* thread = g_thread_new("load", feed_back_always, &load);
  for (int i = 0; i < 200; ++i) {
    GstStructure* statistics = NULL;
    fail_unless_equals_int(gst_element_set_state(load.element, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    g_object_get(load.element, "stats", &statistics, NULL);
    fail_unless(statistics != NULL);
    gst_structure_free(statistics);
    if (i % 2 == 1) g_usleep(1000); /* so that feedback is under way; else none may be */
    fail_unless_equals_int(gst_element_set_state(load.element, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  g_atomic_int_set(&load.stop, TRUE);
  g_thread_join(thread);
  gst_object_unref(load.element);
}
GST_END_TEST

static Suite* bwe_element_suite(void) {
  Suite* result = suite_create("bwe_element");
  TCase* tests = tcase_create("all");
  suite_add_tcase(result, tests);
  tcase_add_test(tests, test_rates_are_those_of_the_library);
  tcase_add_test(tests, test_states_of_the_path_notify);
  tcase_add_test(tests, test_lost_feedback_is_no_loss);
  tcase_add_test(tests, test_in_silence_departures_lower_the_rate);
  tcase_add_test(tests, test_packets_after_pauses_are_received);
  tcase_add_test(tests, test_packets_go_through_as_they_are_alone_and_in_lists);
  tcase_add_test(tests, test_anything_may_be_in_an_event);
  tcase_add_test(tests, test_it_comes_and_goes_under_load);
  tcase_add_test(tests, test_a_model_that_cannot_be_read_is_an_error_on_the_bus);
  return result;
}

GST_CHECK_MAIN(bwe_element)
