/* An estimator at the receiver with a clock, a lock and a timer: packets come from any thread, REMBs go out of one. */
#ifndef WEIR_PLUGINS_GSTREAMER_RECEIVER_H_
#define WEIR_PLUGINS_GSTREAMER_RECEIVER_H_

#include <gst/gst.h>
#include <weir.h>

#include "elements.h"

typedef struct WeirReceiver WeirReceiver;

/* Called on the timer's thread, without the lock; the packet is an RTCP REMB. */
typedef void (*WeirSendRemb)(gpointer argument, const guint8* packet, gsize size_bytes);

/* NULL, and *error a sentence to be freed, where the settings are not usable. Takes a reference of the clock. */
WeirReceiver* weir_receiver_new(const WeirSettings* settings, GstClock* clock, WeirSendRemb send, gpointer argument,
                                gchar** error);
/* Waits for a REMB that is just being sent; then `send` is not called any more. NULL is allowed. */
void weir_receiver_free(WeirReceiver* receiver);

/* The path to the sender is there: the first REMB goes out, from this SSRC. Does nothing the second time. */
void weir_receiver_begin(WeirReceiver* receiver, guint32 sender_ssrc);
/* A packet has arrived now; its arrival time is set. */
void weir_receiver_on_packet(WeirReceiver* receiver, weir_packet* packet);
void weir_receiver_remove_stream(WeirReceiver* receiver, guint32 ssrc);
void weir_receiver_set_objective(WeirReceiver* receiver, gfloat throughput, gfloat latency, gfloat loss);

/* In force, bit/s. */
gint64 weir_receiver_bitrate(WeirReceiver* receiver);
/* `application/x-weir-stats`, to be freed; the README has its fields. */
GstStructure* weir_receiver_statistics(WeirReceiver* receiver);

#endif /* WEIR_PLUGINS_GSTREAMER_RECEIVER_H_ */
