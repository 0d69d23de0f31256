// A plug-in for Janus 1.x that loads another, such as VideoRoom, passes every call on to it and back, and estimates the
// bandwidth of those who publish to it. To Janus and its clients it is the plug-in that it loads.
#include <dlfcn.h>
#include <glib.h>
#include <jansson.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

extern "C" {
#include <janus/config.h>
#include <janus/debug.h>
#include <janus/plugins/plugin.h>
}

#include "publishers.h"

namespace weir::janus {
namespace {

constexpr char kPackage[] = "janus.plugin.weir";

janus_callbacks* core = nullptr;  // of Janus
janus_plugin* wrapped = nullptr;  // nullptr before Init()
void* wrapped_library = nullptr;
std::unique_ptr<Publishers> publishers;

std::shared_ptr<Publisher> Find(janus_plugin_session* handle) { return publishers->Find(handle); }

std::string_view TextOf(json_t* object, const char* key) {
  const char* text = json_string_value(json_object_get(object, key));
  return text == nullptr ? "" : text;
}

// ---- From the wrapped plug-in to Janus ----

int PushEvent(janus_plugin_session* handle, janus_plugin* plugin, const char* transaction, json_t* message,
              json_t* jsep) {
  const auto publisher = Find(handle);
  if (!publisher || TextOf(jsep, "type") != "answer")
    return core->push_event(handle, plugin, transaction, message, jsep);
  const std::string sdp = publishers->SetAnswer(publisher.get(), TextOf(jsep, "sdp"));
  json_t* completed = json_copy(jsep);
  json_object_set_new(completed, "sdp", json_string(sdp.c_str()));
  const int result = core->push_event(handle, plugin, transaction, message, completed);
  json_decref(completed);
  return result;
}

void SendRemb(janus_plugin_session* handle, guint32 bps) {
  const auto publisher = Find(handle);
  if (!publisher || publisher->OnOtherRemb(bps, g_get_monotonic_time())) core->send_remb(handle, bps);
}

void SendFeedback(void* handle, const Feedback& feedback) {
  auto* session = static_cast<janus_plugin_session*>(handle);
  core->send_remb(session, *feedback.remb_bps);
  if (!feedback.remote_estimate) return;
  auto bytes = *feedback.remote_estimate;
  janus_plugin_rtcp rtcp{};
  rtcp.mindex = -1;
  rtcp.video = TRUE;
  rtcp.buffer = reinterpret_cast<char*>(bytes.data());
  rtcp.length = bytes.size();
  core->relay_rtcp(session, &rtcp);
}

void ReportError(const std::string& error) { JANUS_LOG(LOG_ERR, "%s: %s\n", kPackage, error.c_str()); }

// Its members are const, so copies are changed as bytes.
template <typename Function>
void Replace(janus_callbacks* callbacks, size_t offset, Function function) {
  std::memcpy(reinterpret_cast<char*>(callbacks) + offset, static_cast<const void*>(&function), sizeof function);
}

// ---- Start and end ----

std::string ConfigText(janus_config* config, const char* name) {
  janus_config_container* general = janus_config_get(config, nullptr, janus_config_type_category, "general");
  janus_config_container* item =
      general == nullptr ? nullptr : janus_config_get(config, general, janus_config_type_item, name);
  return item == nullptr || item->value == nullptr ? "" : item->value;
}

// Returns "" if all is well, else what is wrong.
std::string ReadSettings(const std::string& path, Settings* settings, std::string* plugin) {
  janus_config* config = janus_config_parse(path.c_str());
  if (config == nullptr) return "cannot read " + path;
  *plugin = ConfigText(config, "plugin");
  settings->folder = ConfigText(config, "folder");
  const std::string share = ConfigText(config, "in_charge");
  const std::string max_rate = ConfigText(config, "max_bitrate");
  janus_config_destroy(config);
  if (plugin->empty()) return path + ": general.plugin must name a plug-in, such as \"libjanus_videoroom.so\"";
  const auto in_charge = observe::ParseShare(share.empty() ? "1" : share);
  if (!in_charge) return path + ": general.in_charge must be a share from 0 to 1, in quotation marks";
  settings->in_charge = *in_charge;
  if (!max_rate.empty()) settings->max_rate_bps = g_ascii_strtoll(max_rate.c_str(), nullptr, 10);
  if (settings->max_rate_bps < 100'000 || settings->max_rate_bps > 1'000'000'000)
    return path + ": general.max_bitrate must be 100000 to 1000000000 bit/s";
  return "";
}

std::string OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  return path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
}

std::string Load(const std::string& name, const janus_plugin* self) {
  const std::string path = name.find('/') == std::string::npos ? OwnFolder() + '/' + name : name;
  wrapped_library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (wrapped_library == nullptr) return dlerror();
  auto* create = reinterpret_cast<create_p*>(dlsym(wrapped_library, "create"));
  wrapped = create == nullptr ? nullptr : create();
  if (wrapped == nullptr || wrapped == self) return path + ": is no other plug-in of Janus";
  if (wrapped->get_api_compatibility() < JANUS_PLUGIN_API_VERSION) return path + ": is of an older version of Janus";
  return "";
}

int Fail(const std::string& error) {
  ReportError(error);
  wrapped = nullptr;
  publishers.reset();
  return -1;
}

extern janus_plugin plugin;

int Init(janus_callbacks* callbacks, const char* config_path) {
  Settings settings;
  std::string name;
  const std::string path = std::string(config_path) + '/' + kPackage + ".jcfg";
  std::string error = ReadSettings(path, &settings, &name);
  if (error.empty()) error = Load(name, &plugin);
  if (!error.empty()) return Fail(error);
  core = callbacks;
  publishers = Publishers::Create(settings, SendFeedback, ReportError);
  if (!publishers) return Fail(weir_last_error());
  // Lives as long as the process.
  auto* replaced = static_cast<janus_callbacks*>(std::malloc(sizeof(janus_callbacks)));
  std::memcpy(static_cast<void*>(replaced), callbacks, sizeof *replaced);
  Replace(replaced, offsetof(janus_callbacks, push_event), &PushEvent);
  Replace(replaced, offsetof(janus_callbacks, send_remb), &SendRemb);
  if (wrapped->init(replaced, config_path) < 0) return Fail(name + " does not start");
  JANUS_LOG(LOG_INFO, "%s %s: in charge of a share of %g of the publishers of %s\n", kPackage, weir_version(),
            settings.in_charge, wrapped->get_package());
  return 0;
}

void Destroy() {
  wrapped->destroy();
  // Janus still ends sessions after this.
  publishers->Stop();
}

// ---- From Janus to the wrapped plug-in ----

int GetApiCompatibility() { return JANUS_PLUGIN_API_VERSION; }
int GetVersion() { return wrapped == nullptr ? 1 : wrapped->get_version(); }
const char* GetVersionString() { return wrapped == nullptr ? weir_version() : wrapped->get_version_string(); }
const char* GetDescription() { return wrapped == nullptr ? kPackage : wrapped->get_description(); }
const char* GetName() { return wrapped == nullptr ? kPackage : wrapped->get_name(); }
const char* GetAuthor() { return wrapped == nullptr ? kPackage : wrapped->get_author(); }
const char* GetPackage() { return wrapped == nullptr ? kPackage : wrapped->get_package(); }

void CreateSession(janus_plugin_session* handle, int* error) {
  // The wrapped plug-in may use the session as soon as it exists.
  janus_refcount_increase_nodebug(&handle->ref);
  publishers->Add(std::shared_ptr<void>(handle, [](void* session) {
    janus_refcount_decrease_nodebug(&static_cast<janus_plugin_session*>(session)->ref);
  }));
  wrapped->create_session(handle, error);
  if (*error != 0) publishers->Remove(handle);
}

void DestroySession(janus_plugin_session* handle, int* error) {
  wrapped->destroy_session(handle, error);
  publishers->Remove(handle);
}

janus_plugin_result* HandleMessage(janus_plugin_session* handle, char* transaction, json_t* message, json_t* jsep) {
  if (TextOf(jsep, "type") == "offer")
    if (const auto publisher = Find(handle)) publisher->SetOffer(TextOf(jsep, "sdp"));
  return wrapped->handle_message(handle, transaction, message, jsep);
}

json_t* HandleAdminMessage(json_t* message) {
  return wrapped->handle_admin_message == nullptr ? nullptr : wrapped->handle_admin_message(message);
}

void SetupMedia(janus_plugin_session* handle) {
  if (const auto publisher = Find(handle)) publisher->Start();
  wrapped->setup_media(handle);
}

void HangupMedia(janus_plugin_session* handle) {
  if (const auto publisher = Find(handle)) publisher->Stop();
  wrapped->hangup_media(handle);
}

void IncomingRtp(janus_plugin_session* handle, janus_plugin_rtp* packet) {
  const int64_t now_us = g_get_monotonic_time();
  if (const auto publisher = Find(handle))
    publisher->OnPacket({reinterpret_cast<const uint8_t*>(packet->buffer), packet->length}, now_us);
  if (wrapped->incoming_rtp != nullptr) wrapped->incoming_rtp(handle, packet);
}

void IncomingRtcp(janus_plugin_session* handle, janus_plugin_rtcp* packet) {
  if (wrapped->incoming_rtcp != nullptr) wrapped->incoming_rtcp(handle, packet);
}

void IncomingData(janus_plugin_session* handle, janus_plugin_data* packet) {
  if (wrapped->incoming_data != nullptr) wrapped->incoming_data(handle, packet);
}

void DataReady(janus_plugin_session* handle) {
  if (wrapped->data_ready != nullptr) wrapped->data_ready(handle);
}

void SlowLink(janus_plugin_session* handle, int mindex, gboolean video, gboolean uplink) {
  if (wrapped->slow_link != nullptr) wrapped->slow_link(handle, mindex, video, uplink);
}

json_t* QuerySession(janus_plugin_session* handle) { return wrapped->query_session(handle); }

janus_plugin plugin = {
    .init = Init,
    .destroy = Destroy,
    .get_api_compatibility = GetApiCompatibility,
    .get_version = GetVersion,
    .get_version_string = GetVersionString,
    .get_description = GetDescription,
    .get_name = GetName,
    .get_author = GetAuthor,
    .get_package = GetPackage,
    .create_session = CreateSession,
    .handle_message = HandleMessage,
    .handle_admin_message = HandleAdminMessage,
    .setup_media = SetupMedia,
    .incoming_rtp = IncomingRtp,
    .incoming_rtcp = IncomingRtcp,
    .incoming_data = IncomingData,
    .data_ready = DataReady,
    .slow_link = SlowLink,
    .hangup_media = HangupMedia,
    .destroy_session = DestroySession,
    .query_session = QuerySession,
};

}  // namespace
}  // namespace weir::janus

extern "C" __attribute__((visibility("default"))) janus_plugin* create() { return &weir::janus::plugin; }
