#include "elements.h"

enum {
  PROP_MODEL = 1,
  PROP_CONTROLLER,
  PROP_WORKER,
  PROP_THROUGHPUT,
  PROP_LATENCY,
  PROP_LOSS,
  PROP_MIN_BITRATE,
  PROP_START_BITRATE,
  PROP_MAX_BITRATE = WEIR_SETTINGS_LAST_PROPERTY
};

void weir_settings_init(WeirSettings* settings) {
  const weir_estimator_config defaults = weir_estimator_default_config();
  *settings = (WeirSettings){.throughput = defaults.objective_throughput,
                             .latency = defaults.objective_latency,
                             .loss = defaults.objective_loss,
                             .min_bitrate = (guint)defaults.min_rate_bps,
                             .start_bitrate = (guint)defaults.start_rate_bps,
                             .max_bitrate = (guint)defaults.max_rate_bps};
}

void weir_settings_clear(WeirSettings* settings) {
  g_clear_pointer(&settings->model, g_free);
  g_clear_pointer(&settings->controller, g_free);
}

static void install_text(GObjectClass* klass, guint property, const gchar* name, const gchar* nick, const gchar* what) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(klass, property, g_param_spec_string(name, nick, what, NULL, flags));
}

static void install_weight(GObjectClass* klass, guint property, const gchar* name, gfloat value) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  g_object_class_install_property(
      klass, property,
      g_param_spec_float(name, name, "Weight of the objective, of the sum of all three", 1e-6f, 1e6f, value, flags));
}

static void install_bitrate(GObjectClass* klass, guint property, const gchar* name, const gchar* what, guint value) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(klass, property, g_param_spec_uint(name, name, what, 1, G_MAXUINT32, value, flags));
}

void weir_settings_install(GObjectClass* klass) {
  WeirSettings defaults;
  weir_settings_init(&defaults);
  install_text(klass, PROP_MODEL, "model", "Model", "ONNX file of the policy; NULL: the shipped one");
  install_text(klass, PROP_CONTROLLER, "controller", "Controller", "NULL: the model; else rule, nada or fixed");
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  g_object_class_install_property(
      klass, PROP_WORKER,
      g_param_spec_boolean("worker", "Worker", "Compute models on one thread for the process", FALSE, flags));
  install_weight(klass, PROP_THROUGHPUT, "throughput-weight", defaults.throughput);
  install_weight(klass, PROP_LATENCY, "latency-weight", defaults.latency);
  install_weight(klass, PROP_LOSS, "loss-weight", defaults.loss);
  install_bitrate(klass, PROP_MIN_BITRATE, "min-bitrate", "Lowest rate, bit/s", defaults.min_bitrate);
  install_bitrate(klass, PROP_START_BITRATE, "start-bitrate", "Rate until media comes, bit/s", defaults.start_bitrate);
  install_bitrate(klass, PROP_MAX_BITRATE, "max-bitrate", "Highest rate, bit/s", defaults.max_bitrate);
}

static void replace_text(gchar** text, const GValue* value) {
  g_free(*text);
  *text = g_value_dup_string(value);
}

gboolean weir_settings_set(WeirSettings* settings, guint property, const GValue* value) {
  switch (property) {
    case PROP_MODEL:
      replace_text(&settings->model, value);
      return TRUE;
    case PROP_CONTROLLER:
      replace_text(&settings->controller, value);
      return TRUE;
    case PROP_WORKER:
      settings->worker = g_value_get_boolean(value);
      return TRUE;
    case PROP_THROUGHPUT:
      settings->throughput = g_value_get_float(value);
      return TRUE;
    case PROP_LATENCY:
      settings->latency = g_value_get_float(value);
      return TRUE;
    case PROP_LOSS:
      settings->loss = g_value_get_float(value);
      return TRUE;
    case PROP_MIN_BITRATE:
      settings->min_bitrate = g_value_get_uint(value);
      return TRUE;
    case PROP_START_BITRATE:
      settings->start_bitrate = g_value_get_uint(value);
      return TRUE;
    case PROP_MAX_BITRATE:
      settings->max_bitrate = g_value_get_uint(value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean weir_settings_get(const WeirSettings* settings, guint property, GValue* value) {
  switch (property) {
    case PROP_MODEL:
      g_value_set_string(value, settings->model);
      return TRUE;
    case PROP_CONTROLLER:
      g_value_set_string(value, settings->controller);
      return TRUE;
    case PROP_WORKER:
      g_value_set_boolean(value, settings->worker);
      return TRUE;
    case PROP_THROUGHPUT:
      g_value_set_float(value, settings->throughput);
      return TRUE;
    case PROP_LATENCY:
      g_value_set_float(value, settings->latency);
      return TRUE;
    case PROP_LOSS:
      g_value_set_float(value, settings->loss);
      return TRUE;
    case PROP_MIN_BITRATE:
      g_value_set_uint(value, settings->min_bitrate);
      return TRUE;
    case PROP_START_BITRATE:
      g_value_set_uint(value, settings->start_bitrate);
      return TRUE;
    case PROP_MAX_BITRATE:
      g_value_set_uint(value, settings->max_bitrate);
      return TRUE;
    default:
      return FALSE;
  }
}

/* The model of a file; on failure NULL, and *error a sentence. */
static const weir_model* model_of_file(const gchar* path, gchar** error) {
  static GMutex lock;
  static GHashTable* models;
  g_mutex_lock(&lock);
  if (models == NULL) models = g_hash_table_new(g_str_hash, g_str_equal);
  weir_model* model = g_hash_table_lookup(models, path);
  if (model == NULL) {
    gchar* bytes = NULL;
    gsize size = 0;
    GError* unread = NULL;
    if (!g_file_get_contents(path, &bytes, &size, &unread)) {
      *error = g_strdup(unread->message);
      g_error_free(unread);
    } else if (weir_model_load(bytes, size, &model) < 0) {
      *error = g_strdup_printf("%s: %s", path, weir_last_error());
    } else {
      g_hash_table_insert(models, g_strdup(path), model);
    }
    g_free(bytes);
  }
  g_mutex_unlock(&lock);
  return model;
}

weir_estimator_config weir_settings_config(const WeirSettings* settings) {
  weir_estimator_config config = weir_estimator_default_config();
  config.min_rate_bps = settings->min_bitrate;
  config.start_rate_bps = settings->start_bitrate;
  config.max_rate_bps = settings->max_bitrate;
  config.objective_throughput = settings->throughput;
  config.objective_latency = settings->latency;
  config.objective_loss = settings->loss;
  return config;
}

weir_controller* weir_settings_controller(const WeirSettings* settings, gchar** error) {
  weir_controller* controller = NULL;
  int result = WEIR_OK;
  if (settings->controller != NULL) {
    result = weir_controller_create_built_in(settings->controller, &controller);
  } else {
    const weir_model* model = model_of_file(settings->model != NULL ? settings->model : WEIR_SHIPPED_MODEL, error);
    if (model != NULL) result = weir_controller_create_policy(model, settings->worker, &controller);
  }
  if (result < 0) *error = g_strdup(weir_last_error());
  return controller;
}
