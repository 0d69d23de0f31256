// Loads libjanus_weir.so as Janus does, around wrapped_plugin.cc.
#include <dlfcn.h>
#include <glib.h>
#include <gtest/gtest.h>
#include <jansson.h>

#include <cstdarg>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include <janus/config.h>
#include <janus/plugins/plugin.h>

// Symbols of Janus itself that a plug-in uses.
int janus_log_level = 4;
gboolean janus_log_timestamps = FALSE;
gboolean janus_log_colors = FALSE;
char* janus_log_global_prefix = nullptr;
int refcount_debug = 0;
}

namespace {

std::map<std::string, std::string> configured;
bool has_config = true;
std::string logged;
std::vector<guint32> rembs;
std::vector<std::string> answers;
int rtcp_packets = 0;
int frees = 0;

int PushEvent(janus_plugin_session*, janus_plugin*, const char*, json_t*, json_t* jsep) {
  answers.emplace_back(json_string_value(json_object_get(jsep, "sdp")));
  return 0;
}
void SendRemb(janus_plugin_session*, guint32 bps) { rembs.push_back(bps); }
void RelayRtcp(janus_plugin_session*, janus_plugin_rtcp*) { ++rtcp_packets; }
void Free(const janus_refcount*) { ++frees; }

}  // namespace

extern "C" {
void janus_vprintf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gchar* text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  logged += text;
  g_free(text);
}
janus_config* janus_config_parse(const char*) {
  static janus_config config{};
  return has_config ? &config : nullptr;
}
void janus_config_destroy(janus_config*) {}
janus_config_container* janus_config_get(janus_config*, janus_config_container* parent, janus_config_type,
                                         const char* name) {
  static janus_config_container general{};
  static std::map<std::string, janus_config_container> items;
  if (parent == nullptr) return &general;
  if (!configured.contains(name)) return nullptr;
  items[name].value = configured[name].c_str();
  return &items[name];
}
}

namespace {

constexpr char kOffer[] =
    "v=0\r\no=- 17 2 IN IP4 1.1.1.1\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n"
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\na=rtpmap:96 VP8/90000\r\n";
constexpr char kAnswer[] = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=recvonly\r\na=rtpmap:96 VP8/90000\r\n";

class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    void* library = dlopen(WEIR_PLUGIN, RTLD_NOW | RTLD_GLOBAL);
    EXPECT_NE(library, nullptr) << dlerror();
    plugin_ = reinterpret_cast<create_p*>(dlsym(library, "create"))();
    configured = {{"plugin", WRAPPED_PLUGIN}};
    has_config = true;
    rembs.clear();
    answers.clear();
    logged.clear();
    session_.gateway_handle = this;
    session_.ref.count = 1;
    session_.ref.free = Free;
  }

  int Init() {
    static janus_callbacks core = {.push_event = PushEvent,
                                   .relay_rtp = nullptr,
                                   .relay_rtcp = RelayRtcp,
                                   .relay_data = nullptr,
                                   .send_pli = nullptr,
                                   .send_pli_stream = nullptr,
                                   .send_remb = SendRemb,
                                   .close_pc = nullptr,
                                   .end_session = nullptr,
                                   .events_is_enabled = nullptr,
                                   .notify_event = nullptr,
                                   .auth_is_signed = nullptr,
                                   .auth_is_signature_valid = nullptr,
                                   .auth_signature_contains = nullptr};
    return plugin_->init(&core, "/configs");
  }

  int CreateSession() {
    int error = 0;
    plugin_->create_session(&session_, &error);
    return error;
  }

  void Negotiate(const char* offer, const char* answer) {
    char transaction[] = "transaction";
    plugin_->handle_message(&session_, transaction, json_pack("{s:s}", "answer", answer),
                            json_pack("{s:s, s:s}", "type", "offer", "sdp", offer));
  }

  void Receive() {
    std::vector<char> bytes(100);
    bytes[0] = static_cast<char>(0x80);
    bytes[1] = 96;
    janus_plugin_rtp packet{};
    packet.buffer = bytes.data();
    packet.length = static_cast<uint16_t>(bytes.size());
    plugin_->incoming_rtp(&session_, &packet);
  }

  void End() {
    int error = 0;
    plugin_->hangup_media(&session_);
    plugin_->destroy_session(&session_, &error);
    plugin_->destroy();
  }

  janus_plugin* plugin_ = nullptr;
  janus_plugin_session session_{};
};

TEST_F(PluginTest, InChargeItCompletesAnswersAndKeepsTheOthersRemb) {
  ASSERT_EQ(Init(), 0) << logged;
  EXPECT_STREQ(plugin_->get_package(), "janus.plugin.wrapped");
  ASSERT_EQ(CreateSession(), 0);
  Negotiate(kOffer, kAnswer);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_NE(answers[0].find("abs-send-time"), std::string::npos);
  EXPECT_NE(answers[0].find("x-google-start-bitrate"), std::string::npos);
  Receive();
  EXPECT_TRUE(rembs.empty()) << "the PeerConnection is not up, and 500 kbps only bounds Weir's rate";
  End();
  EXPECT_EQ(session_.ref.count, 1) << "a reference is left";
}

TEST_F(PluginTest, ObservingItLeavesTheOthersRembAlone) {
  configured["in_charge"] = "0";
  ASSERT_EQ(Init(), 0) << logged;
  ASSERT_EQ(CreateSession(), 0);
  Negotiate(kOffer, kAnswer);
  EXPECT_EQ(answers.at(0).find("x-google"), std::string::npos);
  plugin_->setup_media(&session_);
  Receive();
  End();
  EXPECT_EQ(rembs, std::vector<guint32>{500'000});
}

TEST_F(PluginTest, CallsWithoutVideoOrWithWrongDescriptionsPassUnchanged) {
  ASSERT_EQ(Init(), 0) << logged;
  ASSERT_EQ(CreateSession(), 0);
  Negotiate("", "");
  Negotiate("v=1\nm=\nm=video", "no session description");
  EXPECT_EQ(answers, (std::vector<std::string>{"", "no session description"}));
  Receive();
  EXPECT_EQ(rembs, std::vector<guint32>{500'000});
  End();
}

TEST_F(PluginTest, SessionThatTheWrappedPlugInRefusesIsForgotten) {
  ASSERT_EQ(Init(), 0) << logged;
  session_.gateway_handle = nullptr;
  EXPECT_EQ(CreateSession(), 1);
  EXPECT_EQ(session_.ref.count, 1);
  plugin_->destroy();
}

TEST_F(PluginTest, SessionMayEndAfterThePlugIn) {
  ASSERT_EQ(Init(), 0) << logged;
  ASSERT_EQ(CreateSession(), 0);
  plugin_->destroy();
  int error = 0;
  plugin_->hangup_media(&session_);
  plugin_->destroy_session(&session_, &error);
  EXPECT_EQ(session_.ref.count, 1);
}

TEST_F(PluginTest, WrongConfigurationIsRefusedWithAReason) {
  const auto refuses = [&](const std::string& reason) {
    logged.clear();
    EXPECT_LT(Init(), 0);
    EXPECT_NE(logged.find(reason), std::string::npos) << logged;
    EXPECT_STREQ(plugin_->get_package(), "janus.plugin.weir");
  };
  has_config = false;
  refuses("cannot read /configs/janus.plugin.weir.jcfg");
  has_config = true;
  configured = {};
  refuses("general.plugin must name a plug-in");
  configured = {{"plugin", "libjanus_missing.so"}};
  refuses("libjanus_missing.so");
  configured = {{"plugin", WEIR_PLUGIN}};
  refuses("is no other plug-in");
  configured = {{"plugin", WRAPPED_PLUGIN}, {"in_charge", "2"}};
  refuses("share from 0 to 1");
  configured = {{"plugin", WRAPPED_PLUGIN}, {"max_bitrate", "fast"}};
  refuses("general.max_bitrate");
}

}  // namespace
