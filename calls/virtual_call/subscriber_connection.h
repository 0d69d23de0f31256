// A subscriber's PeerConnection, and the SFU's end of its ICE and session descriptions.
#ifndef WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_CONNECTION_H_
#define WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_CONNECTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/peer_connection_interface.h"
#include "api/video/video_frame.h"
#include "api/video/video_sink_interface.h"
#include "rtc_base/socket_address.h"
#include "test/network/network_emulation_manager.h"
#include "virtual_call/forwarded_stream.h"

namespace weir::sim {

// Connects an SFU, which offers streams of VP8, to a subscriber. The SFU's end is a PeerConnection without media: the
// host sends RTP between the same addresses, and reads RTCP on the path.
class SubscriberConnection {
 public:
  struct Config {
    webrtc::test::NetworkEmulationManagerImpl* network = nullptr;
    webrtc::EmulatedEndpointImpl* sfu = nullptr;
    webrtc::EmulatedEndpointImpl* subscriber = nullptr;
    // One for each stream; they receive decoded frames with their render times.
    std::vector<webrtc::VideoSinkInterface<webrtc::VideoFrame>*> sinks;
    std::function<void(const std::string& reason)> on_failure;
  };

  // Everything in `config` must outlive this object. Throws ProgramError.
  explicit SubscriberConnection(Config config);
  ~SubscriberConnection();
  SubscriberConnection(const SubscriberConnection&) = delete;
  SubscriberConnection& operator=(const SubscriberConnection&) = delete;

  void Connect();
  bool connected() const;

  // Known when connected.
  const std::vector<ForwardedStreamConfig>& streams() const { return streams_; }
  const std::string& answer() const { return answer_; }
  const webrtc::SocketAddress& sfu_address() const;
  const webrtc::SocketAddress& subscriber_address() const;

 private:
  class End;

  void OnOffer();
  void OnAnswer();
  void Fail(const std::string& reason) const { config_.on_failure(reason); }

  const Config config_;
  webrtc::Thread* const signaling_thread_;
  std::unique_ptr<End> sfu_;
  std::unique_ptr<End> subscriber_;
  std::vector<ForwardedStreamConfig> streams_;
  std::string answer_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_CONNECTION_H_
