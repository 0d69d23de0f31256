/* The properties that both elements share: the model or controller, the objective, the bounds. */
#ifndef WEIR_PLUGINS_GSTREAMER_SETTINGS_H_
#define WEIR_PLUGINS_GSTREAMER_SETTINGS_H_

#include <gst/gst.h>
#include <weir.h>

typedef struct WeirSettings {
  gchar* model;      /* an ONNX file; NULL: the model that is shipped with the library */
  gchar* controller; /* NULL: the model decides; else "rule", "nada" or "fixed" */
  gfloat throughput; /* the objective's weights, each above 0 */
  gfloat latency;
  gfloat loss;
  guint min_bitrate; /* bit/s */
  guint start_bitrate;
  guint max_bitrate;
} WeirSettings;

/* The last of the properties that settings have; an element's own begin after it. */
enum { WEIR_SETTINGS_LAST_PROPERTY = 8 };

void weir_settings_init(WeirSettings* settings);
void weir_settings_clear(WeirSettings* settings);
void weir_settings_install(GObjectClass* klass);
/* False where the property is none of these. */
gboolean weir_settings_set(WeirSettings* settings, guint property, const GValue* value);
gboolean weir_settings_get(const WeirSettings* settings, guint property, GValue* value);

/* The configuration of an estimator. Models are loaded once a process and file, and kept to its end.
 * Returns a sentence where that is not possible, to be freed; else NULL. */
gchar* weir_settings_configure(const WeirSettings* settings, weir_estimator_config* config);

#endif /* WEIR_PLUGINS_GSTREAMER_SETTINGS_H_ */
