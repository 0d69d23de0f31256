/* RTP packets of GStreamer as Weir's packets. rtpbin has the meaning of their payload types. */
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

#endif /* WEIR_PLUGINS_GSTREAMER_RTP_PACKETS_H_ */
