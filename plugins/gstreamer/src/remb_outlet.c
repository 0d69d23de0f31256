#include "remb_outlet.h"

guint32 weir_rtcp_sender_ssrc(GstElement* rtpbin, guint session) {
  GObject* internal = NULL;
  guint ssrc = 0;
  g_signal_emit_by_name(rtpbin, "get-internal-session", session, &internal);
  if (internal == NULL) return 0;
  g_object_get(internal, "internal-ssrc", &ssrc, NULL);
  g_object_unref(internal);
  return ssrc;
}

/* The session's own pad behind rtpbin's: what is pushed there comes where its own RTCP does, and the session sees
 * that its events were sent. */
static GstPad* session_rtcp_pad(GstElement* rtpbin, guint session) {
  gchar* name = g_strdup_printf("send_rtcp_src_%u", session);
  GstPad* ghost = gst_element_get_static_pad(rtpbin, name);
  g_free(name);
  if (ghost == NULL) return NULL;
  GstPad* pad = GST_IS_GHOST_PAD(ghost) ? gst_ghost_pad_get_target(GST_GHOST_PAD(ghost)) : gst_object_ref(ghost);
  gst_object_unref(ghost);
  return pad;
}

/* What must come before any buffer; the session sends it with its first RTCP, which may be seconds away. */
static void push_first_events(GstPad* pad) {
  GstEvent* start = gst_event_new_stream_start("weir-rtcp");
  gst_event_set_group_id(start, gst_util_group_id_next());
  GstCaps* caps = gst_caps_new_empty_simple("application/x-rtcp");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(pad, start);
  gst_pad_push_event(pad, gst_event_new_caps(caps));
  gst_pad_push_event(pad, gst_event_new_segment(&segment));
  gst_caps_unref(caps);
}

GstFlowReturn weir_push_rtcp(GstElement* rtpbin, guint session, const guint8* packet, gsize size_bytes) {
  GstPad* pad = session_rtcp_pad(rtpbin, session);
  if (pad == NULL) return GST_FLOW_NOT_LINKED;
  if (!gst_pad_has_current_caps(pad)) push_first_events(pad);
  const GstFlowReturn result = gst_pad_push(pad, gst_buffer_new_memdup(packet, size_bytes));
  gst_object_unref(pad);
  return result;
}
