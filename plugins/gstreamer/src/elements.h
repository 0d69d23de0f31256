/* The plugin's elements.
 *
 * `rtpweirbwe` estimates at the sender, in the place of rtpgccbwe: webrtcbin requests it by `request-aux-sender`, and
 * the RTP session downstream gives it transport-wide feedback. `weirremb` estimates at the receiver, beside a webrtcbin
 * or rtpbin: it watches its packets and sends REMB out of its RTCP pad. It has no pads of its own. */
#ifndef WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_
#define WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_

#include <gst/gst.h>

GType weir_bwe_get_type(void);
GType weir_remb_get_type(void);

#endif /* WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_ */
