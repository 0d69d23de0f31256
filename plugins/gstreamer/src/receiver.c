#include "receiver.h"

/* 1040 bytes are enough for every REMB. */
enum { kLargestRemb = 1040 };

struct WeirReceiver {
  GstClock* clock;
  WeirSendRemb send;
  gpointer argument;
  GMutex lock; /* of what follows */
  weir_estimator* estimator;
  GThread* timer;     /* NULL before the path is there */
  GstClockID waiting; /* of the timer; NULL while it does not wait for the clock */
  gint64 waiting_until_us;
  guint32 sender_ssrc;
  gboolean stopping;
};

static gint64 now_us(WeirReceiver* receiver) { return (gint64)(gst_clock_get_time(receiver->clock) / GST_USECOND); }

/* Waits without the lock; woken early where something has become due before. */
static void wait_until(WeirReceiver* receiver, gint64 time_us) {
  GstClockID id = gst_clock_new_single_shot_id(receiver->clock, (GstClockTime)time_us * GST_USECOND);
  receiver->waiting = id;
  receiver->waiting_until_us = time_us;
  g_mutex_unlock(&receiver->lock);
  gst_clock_id_wait(id, NULL);
  g_mutex_lock(&receiver->lock);
  receiver->waiting = NULL;
  gst_clock_id_unref(id);
}

static void wake(WeirReceiver* receiver) {
  if (receiver->waiting != NULL) gst_clock_id_unschedule(receiver->waiting);
}

static void decide(WeirReceiver* receiver) {
  guint8 packet[kLargestRemb];
  const int due = weir_estimator_on_timeout(receiver->estimator, now_us(receiver), NULL);
  if (due < 0 || !(due & WEIR_REMB_DUE)) return;
  const int size = weir_estimator_write_remb(receiver->estimator, receiver->sender_ssrc, packet, sizeof packet);
  if (size <= 0) return;
  g_mutex_unlock(&receiver->lock);
  receiver->send(receiver->argument, packet, (gsize)size);
  g_mutex_lock(&receiver->lock);
}

static gpointer run(gpointer argument) {
  WeirReceiver* receiver = argument;
  g_mutex_lock(&receiver->lock);
  while (!receiver->stopping) {
    const gint64 due_us = weir_estimator_next_timeout_us(receiver->estimator);
    if (due_us > now_us(receiver))
      wait_until(receiver, due_us);
    else
      decide(receiver);
  }
  g_mutex_unlock(&receiver->lock);
  return NULL;
}

WeirReceiver* weir_receiver_new(const WeirSettings* settings, GstClock* clock, WeirSendRemb send, gpointer argument,
                                gchar** error) {
  weir_controller* controller = weir_settings_controller(settings, error);
  if (controller == NULL) return NULL;
  const weir_estimator_config config = weir_settings_config(settings);
  weir_estimator* estimator = NULL;
  const int result = weir_estimator_create(controller, &config, &estimator);
  weir_controller_destroy(controller);
  if (result < 0) {
    *error = g_strdup(weir_last_error());
    return NULL;
  }
  WeirReceiver* receiver = g_new0(WeirReceiver, 1);
  receiver->clock = gst_object_ref(clock);
  receiver->send = send;
  receiver->argument = argument;
  receiver->estimator = estimator;
  g_mutex_init(&receiver->lock);
  return receiver;
}

void weir_receiver_free(WeirReceiver* receiver) {
  if (receiver == NULL) return;
  g_mutex_lock(&receiver->lock);
  receiver->stopping = TRUE;
  wake(receiver);
  g_mutex_unlock(&receiver->lock);
  if (receiver->timer != NULL) g_thread_join(receiver->timer);
  weir_estimator_destroy(receiver->estimator);
  gst_object_unref(receiver->clock);
  g_mutex_clear(&receiver->lock);
  g_free(receiver);
}

void weir_receiver_begin(WeirReceiver* receiver, guint32 sender_ssrc) {
  g_mutex_lock(&receiver->lock);
  if (receiver->timer == NULL) {
    receiver->sender_ssrc = sender_ssrc;
    receiver->timer = g_thread_new("weir-remb", run, receiver);
  }
  g_mutex_unlock(&receiver->lock);
}

void weir_receiver_on_packet(WeirReceiver* receiver, weir_packet* packet) {
  packet->arrival_time_us = now_us(receiver);
  g_mutex_lock(&receiver->lock);
  weir_estimator_on_packet(receiver->estimator, packet);
  if (receiver->waiting != NULL && weir_estimator_next_timeout_us(receiver->estimator) < receiver->waiting_until_us)
    wake(receiver);
  g_mutex_unlock(&receiver->lock);
}

void weir_receiver_remove_stream(WeirReceiver* receiver, guint32 ssrc) {
  g_mutex_lock(&receiver->lock);
  weir_estimator_remove_stream(receiver->estimator, ssrc);
  g_mutex_unlock(&receiver->lock);
}

void weir_receiver_set_objective(WeirReceiver* receiver, gfloat throughput, gfloat latency, gfloat loss) {
  g_mutex_lock(&receiver->lock);
  weir_estimator_set_objective(receiver->estimator, throughput, latency, loss);
  g_mutex_unlock(&receiver->lock);
}

gint64 weir_receiver_bitrate(WeirReceiver* receiver) {
  weir_estimate estimate = {0};
  g_mutex_lock(&receiver->lock);
  weir_estimator_get_estimate(receiver->estimator, &estimate);
  g_mutex_unlock(&receiver->lock);
  return estimate.target_rate_bps;
}

GstStructure* weir_receiver_statistics(WeirReceiver* receiver) {
  weir_estimator_statistics statistics = {0};
  weir_estimator_counters counters = {0};
  g_mutex_lock(&receiver->lock);
  weir_estimator_get_statistics(receiver->estimator, now_us(receiver), &statistics, sizeof statistics);
  weir_estimator_get_counters(receiver->estimator, &counters, sizeof counters);
  g_mutex_unlock(&receiver->lock);
  return gst_structure_new("application/x-weir-stats", "target-bitrate", G_TYPE_INT64, statistics.target_rate_bps,
                           "reason", G_TYPE_STRING, statistics.reason, "receive-bitrate", G_TYPE_INT64,
                           statistics.receive_rate_bps, "queueing-delay", G_TYPE_UINT64,
                           (guint64)statistics.queueing_delay_us * GST_USECOND, "loss-ratio", G_TYPE_DOUBLE,
                           statistics.loss_ratio, "packets-received", G_TYPE_INT64, statistics.packets_received,
                           "packets-lost", G_TYPE_INT64, statistics.packets_lost, "clock-restarts", G_TYPE_INT64,
                           statistics.clock_restarts, "decisions", G_TYPE_UINT64, counters.decisions, "faults",
                           G_TYPE_UINT64, counters.faults, "rembs-due", G_TYPE_UINT64, counters.rembs_due, NULL);
}
