/* The plugin `weir`: the elements `weirremb`, for receivers, and `rtpweirbwe`, for senders. */
#include <gst/gst.h>

#include "elements.h"

static gboolean plugin_init(GstPlugin* plugin) {
  return gst_element_register(plugin, "weirremb", GST_RANK_NONE, weir_remb_get_type()) &&
         gst_element_register(plugin, "rtpweirbwe", GST_RANK_NONE, weir_bwe_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, weir, "Bandwidth estimation with Weir, at either end of RTP",
                  plugin_init, WEIR_PLUGIN_VERSION, "BSD", "weir", "weir")
