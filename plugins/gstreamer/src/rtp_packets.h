/* RTP packets and transport-wide feedback of GStreamer as those of Weir. rtpbin has the meaning of payload types. */
#ifndef WEIR_PLUGINS_GSTREAMER_RTP_PACKETS_H_
#define WEIR_PLUGINS_GSTREAMER_RTP_PACKETS_H_

#include <gst/gst.h>
#include <weir.h>

/* A payload type of one RTP session. */
typedef struct WeirPayloadType {
  gboolean known;
  guint8 kind;             /* weir_packet_kind */
  guint8 abs_send_time_id; /* of the header extension, 1 to 255; 0: none */
  guint32 clock_rate_hz;   /* 0: unknown */
} WeirPayloadType;

/* The payload type that caps of kind application/x-rtp describe. */
WeirPayloadType weir_payload_type_from_caps(const GstCaps* caps);

/* The payload type of a buffer, 0 to 127; -1 where it is no RTP. */
int weir_payload_type_of(GstBuffer* buffer);

/* Reads all but the arrival time; false where it is no RTP. Allocates nothing. */
gboolean weir_read_packet(GstBuffer* buffer, const WeirPayloadType* payload_type, weir_packet* packet);

/* The event `RTPTWCCPackets` of rtpsession, one for each transport-wide feedback message: state between two events. */
typedef struct WeirFeedbackReader {
  gboolean began;
  weir_sent_packet latest; /* the latest one that events have reported */
  gint64 latest_feedback_us;
} WeirFeedbackReader;

/* True if an event is transport-wide feedback. */
gboolean weir_is_transport_feedback(const GstEvent* event);

/* Tells the estimator of the packets' departures, of which the session tells here for the first time, and of their
 * fates. A packet that no event tells of, since feedback was lost, is taken to have left between its neighbours, with
 * the size of the one before it. Sizes are of the payload alone: the session tells no other.
 * `now_us`: of the clock that rtpsession uses, the system's. Returns a weir_error, or 0. */
int weir_read_transport_feedback(WeirFeedbackReader* reader, const GstEvent* event, gint64 now_us,
                                 weir_send_side* estimator);

/* Called when a packet leaves. Only feedback has departures, so without it the estimator assumes that the sender
 * pauses. Ends such a pause, once feedback is late, with a departure under the next number. Where the session gave that
 * number to another packet, its fate counts as unknown. */
void weir_report_departure_in_pause(WeirFeedbackReader* reader, gint64 now_us, weir_send_side* estimator);

#endif /* WEIR_PLUGINS_GSTREAMER_RTP_PACKETS_H_ */
