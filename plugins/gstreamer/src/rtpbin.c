#include "rtpbin.h"

#include <stdio.h>

#include "rtp_packets.h"

/* In a GAtomicRcBox: probes and signal handlers, which may outlast it, each hold a reference. */
struct WeirPacketTap {
  GstElement* rtpbin;
  WeirPacketTapCallbacks callbacks;
  gpointer argument;
  gint warned; /* atomic */
  gulong handlers[2];
  GRWLock lock; /* of what follows; callbacks run under it as readers */
  gboolean closed;
  GSList* watches;
};

/* One pad that packets come through; the probe owns it. */
typedef struct Watch {
  WeirPacketTap* tap;
  GstPad* pad;
  gulong probe;
  guint session;
  WeirPayloadType payload_types[128];
} Watch;

static void clear(gpointer argument) {
  WeirPacketTap* tap = argument;
  gst_object_unref(tap->rtpbin);
  g_rw_lock_clear(&tap->lock);
}

static void unref(gpointer tap) { g_atomic_rc_box_release_full(tap, clear); }

static void unref_of_closure(gpointer tap, GClosure* closure) {
  (void)closure;
  unref(tap);
}

static void free_watch(gpointer argument) {
  Watch* watch = argument;
  unref(watch->tap);
  g_free(watch);
}

static const WeirPayloadType* payload_type_of(Watch* watch, GstBuffer* buffer) {
  WeirPacketTap* tap = watch->tap;
  const int number = weir_payload_type_of(buffer);
  if (number < 0) return NULL;
  WeirPayloadType* type = &watch->payload_types[number];
  if (type->known) return type;
  GstCaps* caps = NULL;
  g_signal_emit_by_name(tap->rtpbin, "request-pt-map", watch->session, (guint)number, &caps);
  *type = weir_payload_type_from_caps(caps);
  if (caps != NULL) gst_caps_unref(caps);
  if (type->abs_send_time_id == 0 && g_atomic_int_compare_and_exchange(&tap->warned, FALSE, TRUE))
    tap->callbacks.on_missing_send_time(tap->argument, (guint)number);
  return type;
}

static void on_buffer(Watch* watch, GstBuffer* buffer) {
  weir_packet packet;
  const WeirPayloadType* type = payload_type_of(watch, buffer);
  if (type == NULL || !weir_read_packet(buffer, type, &packet)) return;
  watch->tap->callbacks.on_packet(watch->tap->argument, watch->session, &packet);
}

static GstPadProbeReturn on_buffers(GstPad* pad, GstPadProbeInfo* info, gpointer argument) {
  (void)pad;
  Watch* watch = argument;
  g_rw_lock_reader_lock(&watch->tap->lock);
  if (!watch->tap->closed) {
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
      GstBufferList* list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
      for (guint i = 0; i < gst_buffer_list_length(list); ++i) on_buffer(watch, gst_buffer_list_get(list, i));
    } else {
      on_buffer(watch, GST_PAD_PROBE_INFO_BUFFER(info));
    }
  }
  g_rw_lock_reader_unlock(&watch->tap->lock);
  return GST_PAD_PROBE_OK;
}

static gboolean is_watched(const WeirPacketTap* tap, const GstPad* pad) {
  for (GSList* one = tap->watches; one != NULL; one = one->next)
    if (((Watch*)one->data)->pad == pad) return TRUE;
  return FALSE;
}

static void watch_pad(WeirPacketTap* tap, GstPad* pad, guint session) {
  const GstPadProbeType buffers = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  g_rw_lock_writer_lock(&tap->lock);
  if (!tap->closed && !is_watched(tap, pad)) {
    Watch* watch = g_new0(Watch, 1);
    watch->tap = g_atomic_rc_box_acquire(tap);
    watch->pad = gst_object_ref(pad);
    watch->session = session;
    tap->watches = g_slist_append(tap->watches, watch);
    watch->probe = gst_pad_add_probe(pad, buffers, on_buffers, watch, free_watch);
  }
  g_rw_lock_writer_unlock(&tap->lock);
}

static void on_pad_added(GstElement* rtpbin, GstPad* pad, gpointer tap) {
  (void)rtpbin;
  guint session = 0;
  gchar* name = gst_pad_get_name(pad);
  if (sscanf(name, "recv_rtp_sink_%u", &session) == 1) watch_pad(tap, pad, session);
  g_free(name);
}

static gboolean add_pad(GstElement* rtpbin, GstPad* pad, gpointer tap) {
  on_pad_added(rtpbin, pad, tap);
  return TRUE;
}

static void on_bye(GstElement* rtpbin, guint session, guint ssrc, gpointer argument) {
  (void)rtpbin, (void)session;
  WeirPacketTap* tap = argument;
  g_rw_lock_reader_lock(&tap->lock);
  if (!tap->closed) tap->callbacks.on_bye(tap->argument, ssrc);
  g_rw_lock_reader_unlock(&tap->lock);
}

static gulong connect(WeirPacketTap* tap, const gchar* signal, GCallback handler) {
  return g_signal_connect_data(tap->rtpbin, signal, handler, g_atomic_rc_box_acquire(tap), unref_of_closure, 0);
}

WeirPacketTap* weir_packet_tap_new(GstElement* rtpbin, const WeirPacketTapCallbacks* callbacks, gpointer argument) {
  WeirPacketTap* tap = g_atomic_rc_box_new0(WeirPacketTap);
  g_rw_lock_init(&tap->lock);
  tap->rtpbin = gst_object_ref(rtpbin);
  tap->callbacks = *callbacks;
  tap->argument = argument;
  tap->handlers[0] = connect(tap, "pad-added", G_CALLBACK(on_pad_added));
  tap->handlers[1] = connect(tap, "on-bye-ssrc", G_CALLBACK(on_bye));
  gst_element_foreach_sink_pad(rtpbin, add_pad, tap);
  return tap;
}

void weir_packet_tap_free(WeirPacketTap* tap) {
  if (tap == NULL) return;
  g_rw_lock_writer_lock(&tap->lock);
  tap->closed = TRUE;
  GSList* watches = g_steal_pointer(&tap->watches);
  g_rw_lock_writer_unlock(&tap->lock);
  for (guint i = 0; i < G_N_ELEMENTS(tap->handlers); ++i) g_signal_handler_disconnect(tap->rtpbin, tap->handlers[i]);
  for (GSList* one = watches; one != NULL; one = one->next) {
    Watch* watch = one->data;
    GstPad* pad = watch->pad;
    gst_pad_remove_probe(pad, watch->probe); /* frees the watch */
    gst_object_unref(pad);
  }
  g_slist_free(watches);
  unref(tap);
}

gint weir_packet_tap_first_session(WeirPacketTap* tap) {
  g_rw_lock_reader_lock(&tap->lock);
  const gint session = tap->watches != NULL ? (gint)((Watch*)tap->watches->data)->session : -1;
  g_rw_lock_reader_unlock(&tap->lock);
  return session;
}

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

/* Events that must precede any buffer; the session sends them with its first RTCP, which may be seconds away. */
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
