/* Watches the packets that come into the sessions of an rtpbin, whatever pads it has or gets. */
#ifndef WEIR_PLUGINS_GSTREAMER_PACKET_TAP_H_
#define WEIR_PLUGINS_GSTREAMER_PACKET_TAP_H_

#include <gst/gst.h>
#include <weir.h>

typedef struct WeirPacketTap WeirPacketTap;

/* Called on streaming threads, several at once where there are several sessions. */
typedef struct WeirPacketTapCallbacks {
  /* Its arrival time is not set. */
  void (*on_packet)(gpointer argument, guint session, weir_packet* packet);
  /* A stream has said RTCP BYE. */
  void (*on_bye)(gpointer argument, guint ssrc);
  /* Packets of this type have no abs-send-time by what was negotiated; told once. */
  void (*on_missing_send_time)(gpointer argument, guint payload_type);
} WeirPacketTapCallbacks;

WeirPacketTap* weir_packet_tap_new(GstElement* rtpbin, const WeirPacketTapCallbacks* callbacks, gpointer argument);
/* Waits for the callbacks that run; afterwards there are none. NULL is allowed. */
void weir_packet_tap_free(WeirPacketTap* tap);
/* The session whose pad came first; -1: there is none yet. */
gint weir_packet_tap_first_session(WeirPacketTap* tap);

#endif /* WEIR_PLUGINS_GSTREAMER_PACKET_TAP_H_ */
