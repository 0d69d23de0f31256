/* The element `rtpweirbwe`: Weir at the sender, where rtpgccbwe stands: webrtcbin's `request-aux-sender` asks for it,
 * and the RTP session downstream tells it what transport-wide feedback says. */
#ifndef WEIR_PLUGINS_GSTREAMER_BWE_ELEMENT_H_
#define WEIR_PLUGINS_GSTREAMER_BWE_ELEMENT_H_

#include <gst/gst.h>

GType weir_bwe_get_type(void);

#endif /* WEIR_PLUGINS_GSTREAMER_BWE_ELEMENT_H_ */
