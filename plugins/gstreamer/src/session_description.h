/* Answers with which a browser obeys REMB. webrtcbin's own answer transport-cc, with which it does not. */
#ifndef WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_
#define WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_

#include <glib.h>

/* The answer (SDP) without transport-cc, with goog-remb at each video codec, with abs-send-time under the number that
 * the offer has for it and with `rtcp-rsize`, since a REMB comes alone: wherever the offer has them. And the browser
 * begins the DTLS handshake (`setup:passive`). Lines that it does not know stay as they are. To be freed.
 *
 * `x-google-start-bitrate` of each video codec is Chromium's start rate: with a high one it encodes
 * its first key frame for that rate, however early the first REMB is. */
gchar* weir_answer_with_remb(const gchar* offer, const gchar* answer, guint start_kbps);

#endif /* WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_ */
