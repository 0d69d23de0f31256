#include "elements.h"

/* A property, numbered from 1 by its place in kSettings. */
typedef struct Setting {
  GType type;
  gsize offset; /* in WeirSettings */
  const gchar* name;
  const gchar* description;
} Setting;

static const gchar kWeight[] = "Weight of the objective, of the sum of all three";
static const Setting kSettings[] = {
    {G_TYPE_STRING, offsetof(WeirSettings, model), "model", "ONNX file of the policy; NULL: the shipped one"},
    {G_TYPE_STRING, offsetof(WeirSettings, controller), "controller", "NULL: the model; else rule, nada or fixed"},
    {G_TYPE_BOOLEAN, offsetof(WeirSettings, worker), "worker", "Compute models on one thread for the process"},
    {G_TYPE_FLOAT, offsetof(WeirSettings, throughput), "throughput-weight", kWeight},
    {G_TYPE_FLOAT, offsetof(WeirSettings, latency), "latency-weight", kWeight},
    {G_TYPE_FLOAT, offsetof(WeirSettings, loss), "loss-weight", kWeight},
    {G_TYPE_UINT, offsetof(WeirSettings, min_bitrate), "min-bitrate", "Lowest rate, bit/s"},
    {G_TYPE_UINT, offsetof(WeirSettings, start_bitrate), "start-bitrate", "Rate until media comes, bit/s"},
    {G_TYPE_UINT, offsetof(WeirSettings, max_bitrate), "max-bitrate", "Highest rate, bit/s"}};
G_STATIC_ASSERT(G_N_ELEMENTS(kSettings) + 1 == WEIR_PROPERTY_ESTIMATED_BITRATE);

void weir_settings_init(WeirSettings* settings) {
  const weir_estimator_config defaults = weir_estimator_default_config();
  *settings = (WeirSettings){.throughput = defaults.objective_throughput,
                             .latency = defaults.objective_latency,
                             .loss = defaults.objective_loss,
                             .min_bitrate = (guint)defaults.constraints.min_rate_bps,
                             .start_bitrate = (guint)defaults.constraints.start_rate_bps,
                             .max_bitrate = (guint)defaults.constraints.max_rate_bps};
}

void weir_settings_clear(WeirSettings* settings) {
  g_clear_pointer(&settings->model, g_free);
  g_clear_pointer(&settings->controller, g_free);
}

static GParamSpec* specification_of(const Setting* setting, const WeirSettings* defaults) {
  const GParamFlags any = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags before_start = any | GST_PARAM_MUTABLE_READY;
  const gchar* name = setting->name;
  const gchar* what = setting->description;
  switch (setting->type) {
    case G_TYPE_STRING:
      return g_param_spec_string(name, name, what, NULL, before_start);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean(name, name, what, FALSE, before_start);
    case G_TYPE_FLOAT:
      return g_param_spec_float(name, name, what, 1e-6f, 1e6f, G_STRUCT_MEMBER(gfloat, defaults, setting->offset),
                                any | GST_PARAM_MUTABLE_PLAYING);
    default:
      return g_param_spec_uint(name, name, what, 1, G_MAXUINT32, G_STRUCT_MEMBER(guint, defaults, setting->offset),
                               before_start);
  }
}

void weir_settings_install(GObjectClass* klass) {
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  WeirSettings defaults;
  weir_settings_init(&defaults);
  for (guint i = 0; i < G_N_ELEMENTS(kSettings); ++i)
    g_object_class_install_property(klass, i + 1, specification_of(&kSettings[i], &defaults));
  g_object_class_install_property(klass, WEIR_PROPERTY_ESTIMATED_BITRATE,
                                  g_param_spec_uint("estimated-bitrate", "Estimated bitrate",
                                                    "Rate in force, bit/s; notifies", 0, G_MAXUINT32, 0, flags));
  g_object_class_install_property(
      klass, WEIR_PROPERTY_STATS,
      g_param_spec_boxed("stats", "Statistics", "application/x-weir-stats; NULL below READY", GST_TYPE_STRUCTURE,
                         flags));
}

static const Setting* setting_of(guint property) {
  return property >= 1 && property <= G_N_ELEMENTS(kSettings) ? &kSettings[property - 1] : NULL;
}

gboolean weir_settings_set(WeirSettings* settings, guint property, const GValue* value) {
  const Setting* setting = setting_of(property);
  if (setting == NULL) return FALSE;
  if (setting->type == G_TYPE_STRING) {
    gchar** text = &G_STRUCT_MEMBER(gchar*, settings, setting->offset);
    g_free(*text);
    *text = g_value_dup_string(value);
  } else if (setting->type == G_TYPE_BOOLEAN) {
    G_STRUCT_MEMBER(gboolean, settings, setting->offset) = g_value_get_boolean(value);
  } else if (setting->type == G_TYPE_FLOAT) {
    G_STRUCT_MEMBER(gfloat, settings, setting->offset) = g_value_get_float(value);
  } else {
    G_STRUCT_MEMBER(guint, settings, setting->offset) = g_value_get_uint(value);
  }
  return TRUE;
}

gboolean weir_settings_get(const WeirSettings* settings, guint property, GValue* value) {
  const Setting* setting = setting_of(property);
  if (setting == NULL) return FALSE;
  if (setting->type == G_TYPE_STRING)
    g_value_set_string(value, G_STRUCT_MEMBER(gchar*, settings, setting->offset));
  else if (setting->type == G_TYPE_BOOLEAN)
    g_value_set_boolean(value, G_STRUCT_MEMBER(gboolean, settings, setting->offset));
  else if (setting->type == G_TYPE_FLOAT)
    g_value_set_float(value, G_STRUCT_MEMBER(gfloat, settings, setting->offset));
  else
    g_value_set_uint(value, G_STRUCT_MEMBER(guint, settings, setting->offset));
  return TRUE;
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

/* The model that the library has; on failure NULL, and *error a sentence. */
static const weir_model* shipped_model(gchar** error) {
  static GMutex lock;
  static weir_model* model;
  g_mutex_lock(&lock);
  if (model == NULL && weir_model_load_shipped(&model) < 0) *error = g_strdup(weir_last_error());
  g_mutex_unlock(&lock);
  return model;
}

weir_estimator_config weir_settings_config(const WeirSettings* settings) {
  weir_estimator_config config = weir_estimator_default_config();
  config.constraints.min_rate_bps = settings->min_bitrate;
  config.constraints.start_rate_bps = settings->start_bitrate;
  config.constraints.max_rate_bps = settings->max_bitrate;
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
    const weir_model* model = settings->model != NULL ? model_of_file(settings->model, error) : shipped_model(error);
    if (model != NULL) result = weir_controller_create_policy(model, settings->worker, &controller);
  }
  if (result < 0) *error = g_strdup(weir_last_error());
  return controller;
}
