#include "elements.h"
#include "receiver.h"
#include "rtpbin.h"
#include "session_description.h"

GST_DEBUG_CATEGORY_STATIC(weir_remb_debug);
#define GST_CAT_DEFAULT weir_remb_debug

enum { PROP_RTPBIN = WEIR_LAST_SHARED_PROPERTY + 1 };

struct _WeirRemb {
  GstElement parent;
  WeirSettings settings; /* under the object lock */
  GstElement* bin;       /* as the user gave it: a webrtcbin or an rtpbin */
  GstElement* rtpbin;
  gint session; /* that REMB goes out of, the first that a packet came through; -1 before; atomic */
  GRWLock lock; /* of these two, which are there while the element is READY or more */
  WeirReceiver* receiver;
  WeirPacketTap* tap;
};

G_DEFINE_TYPE(WeirRemb, weir_remb, GST_TYPE_ELEMENT)

static void send_remb(gpointer argument, const guint8* packet, gsize size_bytes) {
  WeirRemb* self = argument;
  const guint session = (guint)g_atomic_int_get(&self->session);
  const GstFlowReturn result = weir_push_rtcp(self->rtpbin, session, packet, size_bytes);
  GST_LOG_OBJECT(self, "REMB: %s", gst_flow_get_name(result));
  g_object_notify(G_OBJECT(self), "estimated-bitrate");
}

static void begin(WeirRemb* self, guint session) {
  if (g_atomic_int_compare_and_exchange(&self->session, -1, (gint)session))
    weir_receiver_begin(self->receiver, weir_rtcp_sender_ssrc(self->rtpbin, session));
}

/* The tap is there no longer than the receiver, so that its callbacks need no lock. */
static void on_packet(gpointer argument, guint session, weir_packet* packet) {
  WeirRemb* self = argument;
  begin(self, session);
  weir_receiver_on_packet(self->receiver, packet);
}

static void on_bye(gpointer argument, guint ssrc) {
  WeirRemb* self = argument;
  weir_receiver_remove_stream(self->receiver, ssrc);
}

static void on_missing_send_time(gpointer argument, guint payload_type) {
  GST_ELEMENT_WARNING(argument, STREAM, FORMAT, ("Packets come without abs-send-time: delays are less exact."),
                      ("payload type %u; see the signal answer-with-remb", payload_type));
}

static const WeirPacketTapCallbacks kCallbacks = {on_packet, on_bye, on_missing_send_time};

/* The keys for SRTP are there, from when on the peer may send: the first REMB comes before its first packet. */
static void on_key_set(GstElement* encryptor, gpointer argument) {
  (void)encryptor;
  WeirRemb* self = argument;
  g_rw_lock_reader_lock(&self->lock);
  const gint session = self->tap != NULL ? weir_packet_tap_first_session(self->tap) : -1;
  if (session >= 0) begin(self, (guint)session);
  g_rw_lock_reader_unlock(&self->lock);
}

/* A webrtcbin notifies of its property connection-state too late, so its elements are observed. */
static void on_element_added(GstBin* webrtcbin, GstBin* parent, GstElement* element, gpointer self) {
  (void)webrtcbin, (void)parent;
  GstElementFactory* factory = gst_element_get_factory(element);
  if (factory != NULL && g_strcmp0(GST_OBJECT_NAME(factory), "dtlssrtpenc") == 0)
    g_signal_connect_object(element, "on-key-set", G_CALLBACK(on_key_set), self, 0);
}

static gboolean start(WeirRemb* self) {
  gchar* error = NULL;
  GstClock* clock = gst_system_clock_obtain();
  GST_OBJECT_LOCK(self);
  WeirReceiver* receiver = weir_receiver_new(&self->settings, clock, send_remb, self, &error);
  GST_OBJECT_UNLOCK(self);
  gst_object_unref(clock);
  if (receiver == NULL) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("There is no bandwidth estimator: %s", error), (NULL));
    g_free(error);
    return FALSE;
  }
  g_atomic_int_set(&self->session, -1);
  g_rw_lock_writer_lock(&self->lock);
  self->receiver = receiver;
  self->tap = weir_packet_tap_new(self->rtpbin, &kCallbacks, self);
  g_rw_lock_writer_unlock(&self->lock);
  if (self->bin != self->rtpbin)
    g_signal_connect_object(self->bin, "deep-element-added", G_CALLBACK(on_element_added), self, 0);
  return TRUE;
}

static void stop(WeirRemb* self) {
  if (self->bin != self->rtpbin) g_signal_handlers_disconnect_by_data(self->bin, self);
  g_rw_lock_writer_lock(&self->lock);
  WeirPacketTap* tap = g_steal_pointer(&self->tap);
  g_rw_lock_writer_unlock(&self->lock);
  weir_packet_tap_free(tap); /* before the receiver, which its callbacks use */
  g_rw_lock_writer_lock(&self->lock);
  WeirReceiver* receiver = g_steal_pointer(&self->receiver);
  g_rw_lock_writer_unlock(&self->lock);
  weir_receiver_free(receiver); /* not under the lock: a handler of a new rate may read it */
}

static gboolean find_rtpbin(WeirRemb* self) {
  if (self->rtpbin == NULL && self->bin != NULL && GST_IS_BIN(self->bin))
    self->rtpbin = gst_bin_get_by_name(GST_BIN(self->bin), "rtpbin");
  if (self->rtpbin == NULL)
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("The property rtpbin is no webrtcbin and no rtpbin."), (NULL));
  return self->rtpbin != NULL;
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  WeirRemb* self = (WeirRemb*)element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && (!find_rtpbin(self) || !start(self)))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(weir_remb_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) stop(self);
  return result;
}

static void set_rtpbin(WeirRemb* self, GstElement* bin) {
  gst_clear_object(&self->rtpbin);
  gst_clear_object(&self->bin);
  if (bin == NULL) return;
  self->bin = gst_object_ref(bin);
  /* An rtpbin has this signal, a webrtcbin has one inside. */
  if (g_signal_lookup("request-pt-map", G_OBJECT_TYPE(bin)) != 0) self->rtpbin = gst_object_ref(bin);
}

static void set_property(GObject* object, guint property, const GValue* value, GParamSpec* specification) {
  WeirRemb* self = (WeirRemb*)object;
  if (property == PROP_RTPBIN) {
    set_rtpbin(self, g_value_get_object(value));
    return;
  }
  GST_OBJECT_LOCK(self);
  const gboolean known = weir_settings_set(&self->settings, property, value);
  const WeirSettings settings = self->settings;
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, specification);
  g_rw_lock_reader_lock(&self->lock);
  if (self->receiver != NULL)
    weir_receiver_set_objective(self->receiver, settings.throughput, settings.latency, settings.loss);
  g_rw_lock_reader_unlock(&self->lock);
}

static void get_property(GObject* object, guint property, GValue* value, GParamSpec* specification) {
  WeirRemb* self = (WeirRemb*)object;
  g_rw_lock_reader_lock(&self->lock);
  GST_OBJECT_LOCK(self);
  if (property == PROP_RTPBIN)
    g_value_set_object(value, self->bin);
  else if (property == WEIR_PROPERTY_ESTIMATED_BITRATE)
    g_value_set_uint(value,
                     self->receiver ? (guint)weir_receiver_bitrate(self->receiver) : self->settings.start_bitrate);
  else if (property == WEIR_PROPERTY_STATS)
    g_value_take_boxed(value, self->receiver ? weir_receiver_statistics(self->receiver) : NULL);
  else if (!weir_settings_get(&self->settings, property, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, specification);
  GST_OBJECT_UNLOCK(self);
  g_rw_lock_reader_unlock(&self->lock);
}

static void finalize(GObject* object) {
  WeirRemb* self = (WeirRemb*)object;
  set_rtpbin(self, NULL);
  weir_settings_clear(&self->settings);
  g_rw_lock_clear(&self->lock);
  G_OBJECT_CLASS(weir_remb_parent_class)->finalize(object);
}

static gchar* answer_with_remb(WeirRemb* self, const gchar* offer, const gchar* answer) {
  GST_OBJECT_LOCK(self);
  const guint start_kbps = MAX(self->settings.start_bitrate / 1000, 1);
  GST_OBJECT_UNLOCK(self);
  return offer != NULL && answer != NULL ? weir_answer_with_remb(offer, answer, start_kbps) : NULL;
}

static void weir_remb_class_init(WeirRembClass* klass) {
  GObjectClass* object = G_OBJECT_CLASS(klass);
  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(weir_remb_debug, "weirremb", 0, "Weir at the receiver");
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  element->change_state = change_state;
  weir_settings_install(object);
  g_object_class_install_property(
      object, PROP_RTPBIN,
      g_param_spec_object("rtpbin", "RTP bin", "The webrtcbin, or rtpbin, whose packets it watches", GST_TYPE_ELEMENT,
                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  /* gchar* answer-with-remb(const gchar* offer, const gchar* answer), both SDP: see session_description.h. */
  g_signal_new_class_handler("answer-with-remb", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
                             G_CALLBACK(answer_with_remb), NULL, NULL, NULL, G_TYPE_STRING, 2, G_TYPE_STRING,
                             G_TYPE_STRING);
  gst_element_class_set_static_metadata(element, "Weir REMB", "Network/RTP",
                                        "Estimates bandwidth at the receiver and tells the sender in RTCP REMB",
                                        "weir");
}

static void weir_remb_init(WeirRemb* self) {
  weir_settings_init(&self->settings);
  g_rw_lock_init(&self->lock);
  self->session = -1;
}
