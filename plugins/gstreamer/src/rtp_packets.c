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
  packet->struct_size = sizeof *packet;
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
