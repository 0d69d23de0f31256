// A plug-in of Janus for plugin_test: its messages answer an offer, its packets cause a REMB.
#include <glib.h>
#include <jansson.h>

extern "C" {
#include <janus/plugins/plugin.h>
}

namespace {

janus_callbacks* core = nullptr;

int Init(janus_callbacks* callbacks, const char*) {
  core = callbacks;
  return 0;
}
void Nothing() {}
int Version() { return 7; }
int Api() { return JANUS_PLUGIN_API_VERSION; }
const char* Name() { return "wrapped"; }
const char* Package() { return "janus.plugin.wrapped"; }
void CreateSession(janus_plugin_session* handle, int* error) { *error = handle->gateway_handle == nullptr ? 1 : 0; }
void Destroy(janus_plugin_session*, int*) {}
void Media(janus_plugin_session*) {}
json_t* Query(janus_plugin_session*) { return json_object(); }

// Answers with the SDP of the message.
janus_plugin_result* HandleMessage(janus_plugin_session* handle, char*, json_t* message, json_t* jsep) {
  json_t* answer = json_pack("{s:s, s:O}", "type", "answer", "sdp", json_object_get(message, "answer"));
  core->push_event(handle, nullptr, "transaction", message, answer);
  json_decref(answer);
  json_decref(message);
  json_decref(jsep);
  return nullptr;
}

void IncomingRtp(janus_plugin_session* handle, janus_plugin_rtp*) { core->send_remb(handle, 500'000); }

janus_plugin plugin = {
    .init = Init,
    .destroy = Nothing,
    .get_api_compatibility = Api,
    .get_version = Version,
    .get_version_string = Name,
    .get_description = Name,
    .get_name = Name,
    .get_author = Name,
    .get_package = Package,
    .create_session = CreateSession,
    .handle_message = HandleMessage,
    .handle_admin_message = nullptr,
    .setup_media = Media,
    .incoming_rtp = IncomingRtp,
    .incoming_rtcp = nullptr,
    .incoming_data = nullptr,
    .data_ready = nullptr,
    .slow_link = nullptr,
    .hangup_media = Media,
    .destroy_session = Destroy,
    .query_session = Query,
};

}  // namespace

extern "C" janus_plugin* create() { return &plugin; }
