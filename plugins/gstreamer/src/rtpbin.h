/* Weir's connection to an rtpbin: watches the packets that come into its sessions, whatever pads it has or gets, and
 * sends RTCP out of one session, beside the session's own. */
#ifndef WEIR_PLUGINS_GSTREAMER_RTPBIN_H_
#define WEIR_PLUGINS_GSTREAMER_RTPBIN_H_

#include <gst/gst.h>
#include <weir.h>

typedef struct WeirPacketTap WeirPacketTap;

/* Called on streaming threads, several at once where there are several sessions. */
typedef struct WeirPacketTapCallbacks {
  /* Its arrival time is not set. */
  void (*on_packet)(gpointer argument, guint session, weir_packet* packet);
  /* A stream has said RTCP BYE. */
  void (*on_bye)(gpointer argument, guint ssrc);
  /* Packets of this type have no negotiated abs-send-time; called once. */
  void (*on_missing_send_time)(gpointer argument, guint payload_type);
} WeirPacketTapCallbacks;

WeirPacketTap* weir_packet_tap_new(GstElement* rtpbin, const WeirPacketTapCallbacks* callbacks, gpointer argument);
/* Waits for the callbacks that run; afterwards there are none. NULL is allowed. */
void weir_packet_tap_free(WeirPacketTap* tap);
/* The session whose pad came first; -1: there is none yet. */
gint weir_packet_tap_first_session(WeirPacketTap* tap);

/* The SSRC that the session itself sends RTCP with; 0: there is no such session. */
guint32 weir_rtcp_sender_ssrc(GstElement* rtpbin, guint session);

/* Pushes an RTCP packet, which is a reduced-size one (RFC 5506). May block as any push does; hold no lock.
 * Returns what the push does, GST_FLOW_NOT_LINKED for a session without an RTCP pad. */
GstFlowReturn weir_push_rtcp(GstElement* rtpbin, guint session, const guint8* packet, gsize size_bytes);

#endif /* WEIR_PLUGINS_GSTREAMER_RTPBIN_H_ */
