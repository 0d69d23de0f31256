// The environment of a peer: clock, task queues, threads, network and codecs. Real calls use the machine's, virtual
// calls simulated ones.
#ifndef WEIR_CALLS_PEER_RUNTIME_H_
#define WEIR_CALLS_PEER_RUNTIME_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/audio_codecs/audio_decoder_factory.h"
#include "api/audio_codecs/audio_encoder_factory.h"
#include "api/scoped_refptr.h"
#include "api/task_queue/task_queue_factory.h"
#include "api/video/video_frame.h"
#include "api/video/video_sink_interface.h"
#include "api/video_codecs/video_decoder_factory.h"
#include "api/video_codecs/video_encoder_factory.h"
#include "camera.h"
#include "receive_side_switch.h"
#include "rtc_base/network.h"
#include "rtc_base/socket_factory.h"
#include "rtc_base/thread.h"
#include "sender/observation.h"
#include "system_wrappers/include/clock.h"
#include "weir/units.h"

namespace weir::peer {

struct Runtime {
  webrtc::Clock* clock = nullptr;
  webrtc::TaskQueueFactory* task_queues = nullptr;
  // Already started; null: the peer starts its own.
  webrtc::Thread* signaling_thread = nullptr;
  // Null: libwebrtc's own.
  webrtc::Thread* worker_thread = nullptr;
  webrtc::Thread* network_thread = nullptr;
  webrtc::SocketFactory* socket_factory = nullptr;
  std::unique_ptr<webrtc::NetworkManager> network_manager;
  // Null: libwebrtc's codecs.
  std::unique_ptr<webrtc::VideoEncoderFactory> encoders;
  std::unique_ptr<webrtc::VideoDecoderFactory> decoders;
  webrtc::scoped_refptr<webrtc::AudioEncoderFactory> audio_encoders;
  webrtc::scoped_refptr<webrtc::AudioDecoderFactory> audio_decoders;
  // False: neither DTLS nor SRTP, at either end of the call.
  bool encrypted = true;
  // True: a call whose connection fails restarts ICE, as applications do; false: the call ends.
  bool restarts_ice = false;
  // See ReceiveSideSwitchConfig.
  bool guard = true;
  GuardOptions guard_rules = {};
  // Receive decisions instead of lines; see ReceiveSideSwitchConfig and WeirNetworkControllerOptions. Null: lines.
  std::function<void(const ReceiveSideDecision&)> on_decision;
  std::function<void(const Estimate&)> on_sender_estimate;
  // Makes a sender run Weir's and libwebrtc's own controller beside each other, and receives the observations. Null:
  // only the one in charge runs.
  std::function<void(const Observation&)> on_observation;
  // Receives decoded frames in addition to the options' file; null: none. Must outlive the peer.
  webrtc::VideoSinkInterface<webrtc::VideoFrame>* frame_sink = nullptr;
  // True: the decoder waits until a received frame is written, so that simulated time waits for the disk.
  bool frames_written_at_once = false;
  // Path of this end's RTC event log; empty: none.
  std::string event_log;
  // The round trip that ICE would measure, of a call that does not connect over its path; else ICE measures it.
  std::optional<TimeDelta> round_trip_time;
  CameraTiming camera;
  // The encoder's maximum rate; zero: that of the options.
  DataRate max_encoder_rate = DataRate::Zero();
  // False: media is held until Peer::HoldMedia(false).
  bool sends_at_once = true;
};

// Returns the machine's clock and network. ICE's only network has the address `bind_address`; other interfaces are
// neither enumerated nor announced.
Runtime MakeMachineRuntime(const std::string& bind_address);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_RUNTIME_H_
