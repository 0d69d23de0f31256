/* The way of a REMB to the peer: out of the RTCP pad of one session of an rtpbin, beside the session's own RTCP. */
#ifndef WEIR_PLUGINS_GSTREAMER_REMB_OUTLET_H_
#define WEIR_PLUGINS_GSTREAMER_REMB_OUTLET_H_

#include <gst/gst.h>

/* The SSRC that the session itself sends RTCP with; 0: there is no such session. */
guint32 weir_rtcp_sender_ssrc(GstElement* rtpbin, guint session);

/* Pushes an RTCP packet, which is a reduced-size one (RFC 5506). May block as any push does; hold no lock.
 * Returns what the push does, GST_FLOW_NOT_LINKED for a session without an RTCP pad. */
GstFlowReturn weir_push_rtcp(GstElement* rtpbin, guint session, const guint8* packet, gsize size_bytes);

#endif /* WEIR_PLUGINS_GSTREAMER_REMB_OUTLET_H_ */
