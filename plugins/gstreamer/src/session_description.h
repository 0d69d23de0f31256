/* What an answer must say so that a browser obeys REMB: webrtcbin itself answers transport-cc, with which it does not.
 */
#ifndef WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_
#define WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_

#include <glib.h>

/* The answer (SDP) without transport-cc, with goog-remb at each video codec and with abs-send-time under the number
 * that the offer has for it, wherever the offer has them; with
 * `rtcp-rsize`, since a REMB comes alone; and with `x-google-start-bitrate` and
 * `x-google-max-bitrate` at each video codec, without which Chromium follows a rising REMB by 8 % a second only.
 * And the browser begins
 * the DTLS handshake (`setup:passive`). To be freed. Lines that it does not know stay as they are. */
gchar* weir_answer_with_remb(const gchar* offer, const gchar* answer);

#endif /* WEIR_PLUGINS_GSTREAMER_SESSION_DESCRIPTION_H_ */
