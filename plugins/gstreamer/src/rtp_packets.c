#include "rtp_packets.h"

#include <gst/rtp/rtp.h>
#include <string.h>

static const char kAbsSendTime[] = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";

/* Returns 3 for a field "extmap-3" whose value is the extension's URI, or an array with it in the second place; else 0.
 */
static guint8 extension_id(GQuark field, const GValue* value) {
  const gchar* name = g_quark_to_string(field);
  if (!g_str_has_prefix(name, "extmap-")) return 0;
  if (GST_VALUE_HOLDS_ARRAY(value) && gst_value_array_get_size(value) == 3) value = gst_value_array_get_value(value, 1);
  if (!G_VALUE_HOLDS_STRING(value) || g_strcmp0(g_value_get_string(value), kAbsSendTime) != 0) return 0;
  const guint64 id = g_ascii_strtoull(name + strlen("extmap-"), NULL, 10);
  return id <= 255 ? (guint8)id : 0;
}

static gboolean take_extension(GQuark field, const GValue* value, gpointer id) {
  const guint8 found = extension_id(field, value);
  if (found != 0) *(guint8*)id = found;
  return TRUE;
}

WeirPayloadType weir_payload_type_from_caps(const GstCaps* caps) {
  WeirPayloadType result = {.known = TRUE, .kind = WEIR_PACKET_VIDEO};
  if (caps == NULL || gst_caps_get_size(caps) == 0) return result;
  const GstStructure* format = gst_caps_get_structure(caps, 0);
  gint clock_rate_hz = 0;
  if (gst_structure_get_int(format, "clock-rate", &clock_rate_hz) && clock_rate_hz > 0)
    result.clock_rate_hz = (guint32)clock_rate_hz;
  if (g_strcmp0(gst_structure_get_string(format, "media"), "audio") == 0) result.kind = WEIR_PACKET_AUDIO;
  const gchar* codec = gst_structure_get_string(format, "encoding-name");
  if (codec != NULL && g_ascii_strcasecmp(codec, "rtx") == 0) result.kind = WEIR_PACKET_RETRANSMISSION;
  gst_structure_foreach(format, take_extension, &result.abs_send_time_id);
  return result;
}

int weir_payload_type_of(GstBuffer* buffer) {
  guint8 header[2];
  if (gst_buffer_extract(buffer, 0, header, sizeof header) != sizeof header || header[0] >> 6 != 2) return -1;
  return header[1] & 0x7f;
}

/* RFC 8285; either form of header, 3 bytes. */
static void read_abs_send_time(GstRTPBuffer* rtp, guint8 id, weir_packet* packet) {
  gpointer data = NULL;
  guint size = 0;
  guint8 flags = 0;
  const gboolean found = gst_rtp_buffer_get_extension_onebyte_header(rtp, id, 0, &data, &size) ||
                         gst_rtp_buffer_get_extension_twobytes_header(rtp, &flags, id, 0, &data, &size);
  if (!found || size != 3) return;
  packet->has_abs_send_time = 1;
  packet->abs_send_time = GST_READ_UINT24_BE(data);
}

gboolean weir_read_packet(GstBuffer* buffer, const WeirPayloadType* payload_type, weir_packet* packet) {
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  if (!gst_rtp_buffer_map(buffer, GST_MAP_READ, &rtp)) return FALSE;
  memset(packet, 0, sizeof *packet);
  packet->ssrc = gst_rtp_buffer_get_ssrc(&rtp);
  packet->sequence_number = gst_rtp_buffer_get_seq(&rtp);
  packet->payload_type = gst_rtp_buffer_get_payload_type(&rtp);
  packet->rtp_timestamp = gst_rtp_buffer_get_timestamp(&rtp);
  packet->rtp_clock_rate_hz = payload_type->clock_rate_hz;
  packet->header_bytes = gst_rtp_buffer_get_header_len(&rtp);
  packet->payload_bytes = gst_rtp_buffer_get_payload_len(&rtp);
  packet->padding_bytes = (guint32)gst_rtp_buffer_get_packet_len(&rtp) - packet->header_bytes - packet->payload_bytes;
  /* Without a payload it is there to find out what the path carries. */
  const gboolean padding_only = packet->payload_bytes == 0 && payload_type->kind == WEIR_PACKET_VIDEO;
  packet->kind = padding_only ? (guint8)WEIR_PACKET_PROBE : payload_type->kind;
  if (payload_type->abs_send_time_id != 0) read_abs_send_time(&rtp, payload_type->abs_send_time_id, packet);
  gst_rtp_buffer_unmap(&rtp);
  return TRUE;
}

/* A feedback message tells of no more. */
enum { kMostPackets = 65536, kLargestPacket = 65535 };

/* From the element to the session a packet takes less than the first; libwebrtc's feedback comes within the other. */
enum { kSameDepartureUs = 5000, kFeedbackIntervalUs = 250000 };

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
  *report = (Report){.sent = {.send_time_us = (gint64)(local / GST_USECOND),
                              .size_bytes = MIN(size, (guint)kLargestPacket),
                              .sequence_number = (guint16)number,
                              .kind = WEIR_PACKET_VIDEO},
                     .feedback = {.receive_time_us = arrived ? (gint64)(remote / GST_USECOND) : 0,
                                  .sequence_number = (guint16)number,
                                  .fate = arrived ? WEIR_PACKET_RECEIVED : WEIR_PACKET_LOST},
                     .has_departure = GST_CLOCK_TIME_IS_VALID(local)};
  return TRUE;
}

static int tell_departure(WeirFeedbackReader* reader, Report* report, weir_send_side* estimator) {
  const weir_sent_packet* sent = &report->sent;
  /* Wrapped; 0 and less: not ahead of the latest departure. */
  const int step = reader->began ? (gint16)(guint16)(sent->sequence_number - reader->latest.sequence_number) : 1;
  if (step <= 0) {
    /* The estimator may have the departure of another packet under this number. */
    const gboolean is_latest = step == 0 && ABS(sent->send_time_us - reader->latest.send_time_us) < kSameDepartureUs;
    if (!is_latest) report->feedback.fate = WEIR_PACKET_FATE_UNKNOWN;
    return WEIR_OK;
  }
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
    if (report.has_departure) result = tell_departure(reader, &report, estimator);
    feedback[reports++] = report.feedback;
  }
  reader->latest_feedback_us = now_us;
  if (result == WEIR_OK && reports > 0)
    result = weir_send_side_on_transport_feedback(estimator, feedback, reports, now_us);
  g_free(feedback);
  return result;
}

void weir_report_departure_in_pause(WeirFeedbackReader* reader, gint64 now_us, weir_send_side* estimator) {
  if (!reader->began || now_us - reader->latest_feedback_us < kFeedbackIntervalUs) return;
  if (weir_send_side_next_timeout_us(estimator) != INT64_MAX) return;
  ++reader->latest.sequence_number;
  reader->latest.send_time_us = now_us;
  weir_send_side_on_sent_packet(estimator, &reader->latest);
}
