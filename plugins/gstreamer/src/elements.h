/* The plugin's elements.
 *
 * `rtpweirbwe` estimates at the sender, in the place of rtpgccbwe: webrtcbin requests it by `request-aux-sender`, and
 * the RTP session downstream gives it transport-wide feedback. `weirremb` estimates at the receiver, beside a webrtcbin
 * or rtpbin: it watches its packets and sends REMB out of its RTCP pad. It has no pads of its own. */
#ifndef WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_
#define WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_

#include <gst/gst.h>
#include <weir.h>

G_DECLARE_FINAL_TYPE(WeirBwe, weir_bwe, WEIR, BWE, GstElement)
G_DECLARE_FINAL_TYPE(WeirRemb, weir_remb, WEIR, REMB, GstElement)

/* The properties that both elements share: the model or controller, the objective, the bounds. */
typedef struct WeirSettings {
  gchar* model;      /* an ONNX file; NULL: the model that is shipped with the library */
  gchar* controller; /* NULL: the model decides; else "rule", "nada" or "fixed" */
  gboolean worker;   /* the model is computed on one thread for the whole process */
  gfloat throughput; /* the objective's weights, each above 0 */
  gfloat latency;
  gfloat loss;
  guint min_bitrate; /* bit/s */
  guint start_bitrate;
  guint max_bitrate;
} WeirSettings;

/* Properties of both elements: settings are 1 to 9, each element reads the others; its own begin after the last. */
enum { WEIR_PROPERTY_ESTIMATED_BITRATE = 10, WEIR_PROPERTY_STATS, WEIR_LAST_SHARED_PROPERTY = WEIR_PROPERTY_STATS };

void weir_settings_init(WeirSettings* settings);
void weir_settings_clear(WeirSettings* settings);
/* Installs all properties of both elements. */
void weir_settings_install(GObjectClass* klass);
/* False where the property is no setting. */
gboolean weir_settings_set(WeirSettings* settings, guint property, const GValue* value);
gboolean weir_settings_get(const WeirSettings* settings, guint property, GValue* value);

weir_estimator_config weir_settings_config(const WeirSettings* settings);
/* The controller, which the caller destroys; NULL and a sentence in *error, to be freed, where there is none. Models
 * are loaded once a process and file, and kept to its end. */
weir_controller* weir_settings_controller(const WeirSettings* settings, gchar** error);

#endif /* WEIR_PLUGINS_GSTREAMER_ELEMENTS_H_ */
