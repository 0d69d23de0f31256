/* The element `weirremb`: Weir at the receiver, beside a webrtcbin or an rtpbin, whose packets it watches and out of
 * whose RTCP pad it sends REMB. It has no pads. */
#ifndef WEIR_PLUGINS_GSTREAMER_REMB_ELEMENT_H_
#define WEIR_PLUGINS_GSTREAMER_REMB_ELEMENT_H_

#include <gst/gst.h>

GType weir_remb_get_type(void);

#endif /* WEIR_PLUGINS_GSTREAMER_REMB_ELEMENT_H_ */
