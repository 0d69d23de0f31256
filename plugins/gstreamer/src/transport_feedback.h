/* The event `RTPTWCCPackets` of rtpsession, one for each transport-wide feedback message, for the estimator. */
#ifndef WEIR_PLUGINS_GSTREAMER_TRANSPORT_FEEDBACK_H_
#define WEIR_PLUGINS_GSTREAMER_TRANSPORT_FEEDBACK_H_

#include <gst/gst.h>
#include <weir.h>

/* State between two events. */
typedef struct WeirFeedbackReader {
  gboolean began;
  weir_sent_packet latest; /* the latest one that events have reported */
} WeirFeedbackReader;

/* True if an event is transport-wide feedback. */
gboolean weir_is_transport_feedback(const GstEvent* event);

/* Tells the estimator of the packets' departures, of which the session tells here for the first time, and of their
 * fates. A packet that no event tells of, since feedback was lost, is taken to have left between its neighbours, with
 * the size of the one before it. Sizes are of the payload alone: the session tells no other.
 * `now_us`: of the clock that rtpsession uses, the system's. Returns a weir_error, or 0. */
int weir_read_transport_feedback(WeirFeedbackReader* reader, const GstEvent* event, gint64 now_us,
                                 weir_send_side* estimator);

#endif /* WEIR_PLUGINS_GSTREAMER_TRANSPORT_FEEDBACK_H_ */
