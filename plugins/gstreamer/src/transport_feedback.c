#include "transport_feedback.h"

/* A feedback message tells of no more. */
enum { kMostPackets = 65536, kLargestPacket = 65535 };

typedef struct Report {
  weir_sent_packet sent;
  weir_packet_feedback feedback;
  gboolean has_departure; /* false: reported before, or never sent */
} Report;

gboolean weir_is_transport_feedback(const GstEvent* event) {
  const GstStructure* told = gst_event_get_structure((GstEvent*)event);
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_UPSTREAM && told != NULL &&
         gst_structure_has_name(told, "RTPTWCCPackets");
}

static gboolean read_report(const GValue* value, Report* report) {
  if (!GST_VALUE_HOLDS_STRUCTURE(value)) return FALSE;
  const GstStructure* packet = gst_value_get_structure(value);
  guint number = 0;
  guint size = 0;
  guint64 local = GST_CLOCK_TIME_NONE;
  guint64 remote = GST_CLOCK_TIME_NONE;
  gboolean lost = TRUE;
  if (packet == NULL || !gst_structure_get_uint(packet, "seqnum", &number)) return FALSE;
  gst_structure_get(packet, "local-ts", G_TYPE_UINT64, &local, "remote-ts", G_TYPE_UINT64, &remote, "size", G_TYPE_UINT,
                    &size, "lost", G_TYPE_BOOLEAN, &lost, NULL);
  const gboolean arrived = !lost && GST_CLOCK_TIME_IS_VALID(remote);
  *report = (Report){.sent = {.struct_size = sizeof report->sent,
                              .send_time_us = (gint64)(local / GST_USECOND),
                              .size_bytes = MIN(size, (guint)kLargestPacket),
                              .sequence_number = (guint16)number,
                              .kind = WEIR_PACKET_VIDEO},
                     .feedback = {.receive_time_us = arrived ? (gint64)(remote / GST_USECOND) : 0,
                                  .sequence_number = (guint16)number,
                                  .fate = arrived ? WEIR_PACKET_RECEIVED : WEIR_PACKET_LOST},
                     .has_departure = GST_CLOCK_TIME_IS_VALID(local)};
  return TRUE;
}

/* How far a number is ahead of the latest departure, wrapped; 0 and less: not ahead. */
static int ahead(const WeirFeedbackReader* reader, guint16 number) {
  return (gint16)(guint16)(number - reader->latest.sequence_number);
}

static int tell_departure(WeirFeedbackReader* reader, const weir_sent_packet* sent, weir_send_side* estimator) {
  const int step = reader->began ? ahead(reader, sent->sequence_number) : 1;
  if (step <= 0) return WEIR_OK;
  weir_sent_packet between = reader->latest;
  const gint64 gap_us = sent->send_time_us - reader->latest.send_time_us;
  int result = WEIR_OK;
  for (int i = 1; i < step && result == WEIR_OK; ++i) {
    between.sequence_number = (guint16)(reader->latest.sequence_number + i);
    between.send_time_us = reader->latest.send_time_us + gap_us * i / step;
    result = weir_send_side_on_sent_packet(estimator, &between);
  }
  if (result == WEIR_OK) result = weir_send_side_on_sent_packet(estimator, sent);
  reader->latest = *sent;
  reader->began = TRUE;
  return result;
}

int weir_read_transport_feedback(WeirFeedbackReader* reader, const GstEvent* event, gint64 now_us,
                                 weir_send_side* estimator) {
  const GValue* packets = gst_structure_get_value(gst_event_get_structure((GstEvent*)event), "packets");
  /* By its name, since GLib would have rtpsession put something newer in. */
  if (packets == NULL || g_strcmp0(G_VALUE_TYPE_NAME(packets), "GValueArray") != 0) return WEIR_ERROR_INVALID_ARGUMENT;
  const GValueArray* array = g_value_get_boxed(packets);
  const guint count = array == NULL ? 0 : MIN(array->n_values, (guint)kMostPackets);
  weir_packet_feedback* feedback = g_new(weir_packet_feedback, count);
  guint reports = 0;
  int result = WEIR_OK;
  for (guint i = 0; i < count && result == WEIR_OK; ++i) {
    Report report;
    if (!read_report(&array->values[i], &report)) continue;
    feedback[reports++] = report.feedback;
    if (report.has_departure) result = tell_departure(reader, &report.sent, estimator);
  }
  if (result == WEIR_OK && reports > 0)
    result = weir_send_side_on_transport_feedback(estimator, feedback, reports, now_us);
  g_free(feedback);
  return result;
}
