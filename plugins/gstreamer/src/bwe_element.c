#include "elements.h"
#include "rtp_packets.h"

enum { PROP_PACING_BITRATE = WEIR_LAST_SHARED_PROPERTY + 1, PROP_CONGESTION_STATE };

struct _WeirBwe {
  GstElement parent;
  GstPad* source;
  GstClock* clock;
  /* The object lock guards what follows. */
  WeirSettings settings;
  weir_send_side* estimator; /* NULL below READY */
  WeirFeedbackReader reader;
  /* The values of the latest notifications. */
  gint64 notified_bitrate;
  gint32 notified_state;
};

G_DEFINE_TYPE(WeirBwe, weir_bwe, GST_TYPE_ELEMENT)

static gint64 now_us(const WeirBwe* self) { return (gint64)(gst_clock_get_time(self->clock) / GST_USECOND); }

/* Call with the object lock; the start rate before there is feedback. */
static weir_send_side_rates rates_of(const WeirBwe* self) {
  weir_send_side_rates rates = {.target_rate_bps = self->settings.start_bitrate,
                                .pacing_rate_bps = self->settings.start_bitrate,
                                .reason = "start"};
  if (self->estimator != NULL) weir_send_side_get_rates(self->estimator, &rates);
  return rates;
}

/* Call with the object lock; normal before there is feedback. */
static weir_network_state network_state_of(const WeirBwe* self) {
  weir_network_state state = {.state = WEIR_CONGESTION_NORMAL};
  if (self->estimator != NULL) weir_send_side_get_network_state(self->estimator, &state);
  return state;
}

/* Releases the object lock, and notifies of a rate and a state that have changed. */
static void unlock_and_notify(WeirBwe* self) {
  const gint64 bitrate = rates_of(self).target_rate_bps;
  const gint32 state = network_state_of(self).state;
  const gboolean bitrate_changed = bitrate != self->notified_bitrate;
  const gboolean state_changed = state != self->notified_state;
  self->notified_bitrate = bitrate;
  self->notified_state = state;
  GST_OBJECT_UNLOCK(self);
  if (bitrate_changed) g_object_notify(G_OBJECT(self), "estimated-bitrate");
  if (state_changed) g_object_notify(G_OBJECT(self), "congestion-state");
}

/* The packets that leave are the timer: only a feedback timeout needs one. */
static void on_departure(WeirBwe* self) {
  GST_OBJECT_LOCK(self);
  if (self->estimator != NULL) {
    const gint64 departure_us = now_us(self);
    weir_report_departure_in_pause(&self->reader, departure_us, self->estimator);
    if (weir_send_side_next_timeout_us(self->estimator) <= departure_us) {
      weir_send_side_on_timeout(self->estimator, departure_us);
      unlock_and_notify(self);
      return;
    }
  }
  GST_OBJECT_UNLOCK(self);
}

static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer) {
  (void)pad;
  WeirBwe* self = (WeirBwe*)parent;
  on_departure(self);
  return gst_pad_push(self->source, buffer);
}

static GstFlowReturn chain_list(GstPad* pad, GstObject* parent, GstBufferList* list) {
  (void)pad;
  WeirBwe* self = (WeirBwe*)parent;
  on_departure(self);
  return gst_pad_push_list(self->source, list);
}

static void on_feedback(WeirBwe* self, const GstEvent* event) {
  int result = WEIR_OK;
  GST_OBJECT_LOCK(self);
  if (self->estimator != NULL)
    result = weir_read_transport_feedback(&self->reader, event, now_us(self), self->estimator);
  unlock_and_notify(self);
  if (result < 0)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("Transport feedback cannot be used."), ("weir_error %d", result));
}

static gboolean source_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  if (weir_is_transport_feedback(event)) on_feedback((WeirBwe*)parent, event);
  return gst_pad_event_default(pad, parent, event);
}

static gboolean start(WeirBwe* self) {
  gchar* error = NULL;
  GST_OBJECT_LOCK(self);
  weir_controller* controller = weir_settings_controller(&self->settings, &error);
  const weir_estimator_config config = weir_settings_config(&self->settings);
  if (controller != NULL && weir_send_side_create(controller, &config, 0, &self->estimator) < 0)
    error = g_strdup(weir_last_error());
  weir_controller_destroy(controller);
  self->reader = (WeirFeedbackReader){0};
  self->notified_bitrate = self->settings.start_bitrate;
  self->notified_state = WEIR_CONGESTION_NORMAL;
  GST_OBJECT_UNLOCK(self);
  if (error == NULL) return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("There is no bandwidth estimator: %s", error), (NULL));
  g_free(error);
  return FALSE;
}

static void stop(WeirBwe* self) {
  GST_OBJECT_LOCK(self);
  weir_send_side_destroy(g_steal_pointer(&self->estimator));
  GST_OBJECT_UNLOCK(self);
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  WeirBwe* self = (WeirBwe*)element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !start(self)) return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(weir_bwe_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) stop(self);
  return result;
}

static void set_property(GObject* object, guint property, const GValue* value, GParamSpec* specification) {
  WeirBwe* self = (WeirBwe*)object;
  GST_OBJECT_LOCK(self);
  const gboolean known = weir_settings_set(&self->settings, property, value);
  const WeirSettings* settings = &self->settings;
  if (self->estimator != NULL)
    weir_send_side_set_objective(self->estimator, settings->throughput, settings->latency, settings->loss);
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, specification);
}

static GType congestion_state_type(void) {
  static const GEnumValue values[] = {{WEIR_CONGESTION_NORMAL, "No queue", "normal"},
                                      {WEIR_CONGESTION_EARLY_WARNING, "A queue has begun", "early-warning"},
                                      {WEIR_CONGESTION_CONGESTED, "The path carries less than is sent", "congested"},
                                      {0, NULL, NULL}};
  static gsize type = 0;
  if (g_once_init_enter(&type)) g_once_init_leave(&type, g_enum_register_static("WeirCongestionState", values));
  return type;
}

/* Call with the object lock. */
static GstStructure* statistics_of(const WeirBwe* self) {
  weir_send_side_counters counters;
  if (self->estimator == NULL) return NULL;
  if (weir_send_side_get_counters(self->estimator, &counters, sizeof counters) < 0) return NULL;
  const weir_send_side_rates rates = rates_of(self);
  const weir_network_state state = network_state_of(self);
  return gst_structure_new(
      "application/x-weir-stats", "target-bitrate", G_TYPE_INT64, rates.target_rate_bps, "reason", G_TYPE_STRING,
      rates.reason, "congestion-state", congestion_state_type(), state.state, "link-capacity", G_TYPE_INT64,
      state.link_capacity_bps, "packets-received", G_TYPE_UINT64, counters.packets_received, "packets-lost",
      G_TYPE_UINT64, counters.packets_lost, "packets-fate-unknown", G_TYPE_UINT64, counters.packets_fate_unknown,
      "reports-not-in-history", G_TYPE_UINT64, counters.reports_not_in_history, "packets-invalid", G_TYPE_UINT64,
      counters.packets_invalid, "clock-restarts", G_TYPE_UINT64, counters.clock_restarts, NULL);
}

static void get_property(GObject* object, guint property, GValue* value, GParamSpec* specification) {
  WeirBwe* self = (WeirBwe*)object;
  GST_OBJECT_LOCK(self);
  if (property == WEIR_PROPERTY_ESTIMATED_BITRATE)
    g_value_set_uint(value, (guint)rates_of(self).target_rate_bps);
  else if (property == PROP_PACING_BITRATE)
    g_value_set_uint(value, (guint)MIN(rates_of(self).pacing_rate_bps, (gint64)G_MAXUINT32));
  else if (property == PROP_CONGESTION_STATE)
    g_value_set_enum(value, network_state_of(self).state);
  else if (property == WEIR_PROPERTY_STATS)
    g_value_take_boxed(value, statistics_of(self));
  else if (!weir_settings_get(&self->settings, property, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, specification);
  GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject* object) {
  WeirBwe* self = (WeirBwe*)object;
  gst_object_unref(self->clock);
  weir_settings_clear(&self->settings);
  G_OBJECT_CLASS(weir_bwe_parent_class)->finalize(object);
}

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS("application/x-rtp"));
static GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("application/x-rtp"));

static void weir_bwe_class_init(WeirBweClass* klass) {
  GObjectClass* object = G_OBJECT_CLASS(klass);
  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  element->change_state = change_state;
  weir_settings_install(object);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property(object, PROP_PACING_BITRATE,
                                  g_param_spec_uint("pacing-bitrate", "Pacing bitrate",
                                                    "How fast a pacer may send, bit/s", 0, G_MAXUINT32, 0, flags));
  g_object_class_install_property(
      object, PROP_CONGESTION_STATE,
      g_param_spec_enum("congestion-state", "Congestion state", "State of the path; notifies", congestion_state_type(),
                        WEIR_CONGESTION_NORMAL, flags));
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &source_template);
  gst_element_class_set_static_metadata(element, "Weir bandwidth estimator", "Network/RTP",
                                        "Estimates bandwidth at the sender from transport-wide feedback", "weir");
}

static void weir_bwe_init(WeirBwe* self) {
  weir_settings_init(&self->settings);
  self->clock = gst_system_clock_obtain();
  self->notified_bitrate = self->settings.start_bitrate;
  self->source = gst_pad_new_from_static_template(&source_template, "src");
  gst_pad_set_event_function(self->source, source_event);
  GstPad* sink = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(sink, chain);
  gst_pad_set_chain_list_function(sink, chain_list);
  GST_PAD_SET_PROXY_CAPS(sink);
  GST_PAD_SET_PROXY_CAPS(self->source);
  GST_PAD_SET_PROXY_ALLOCATION(sink);
  gst_element_add_pad(GST_ELEMENT(self), sink);
  gst_element_add_pad(GST_ELEMENT(self), self->source);
}
