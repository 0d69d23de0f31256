// Creates libwebrtc's PeerConnectionFactory with the parts that weir-peer replaces: audio device, network interfaces,
// event log, field trials and the sender's congestion control.
#ifndef WEIR_CALLS_PEER_CONNECTION_FACTORY_H_
#define WEIR_CALLS_PEER_CONNECTION_FACTORY_H_

#include <memory>

#include "api/fec_controller.h"
#include "api/peer_connection_interface.h"
#include "api/transport/network_control.h"
#include "audio_files.h"
#include "field_trials.h"
#include "receive_side_switch.h"
#include "rtc_base/thread.h"
#include "rtcp_observer.h"
#include "runtime.h"

namespace weir::peer {

struct ConnectionFactoryConfig {
  // kWeir: the sender follows REMB. Otherwise it runs GCC.
  ReceiveSideMode controller = ReceiveSideMode::kWeir;
  // Replaces both at the sender, unless null.
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> network_controller;
  // Null: libwebrtc's own FEC controllers.
  std::unique_ptr<webrtc::FecControllerFactoryInterface> fec_controller;
  // Offers RFC 8888 feedback, so that packets are sent as ECT(1). In mode kGcc a receiver accepts it in any case.
  bool congestion_control_feedback = false;
  FieldTrials field_trials;
  // The network manager and codecs are moved from.
  Runtime* runtime = nullptr;
  // Null: pulses of quiet noise.
  std::unique_ptr<AudioCapturer> audio_capturer;
  // Null: received audio is discarded.
  std::unique_ptr<AudioRenderer> audio_renderer;
  RtcpObserver rtcp_observer;
};

// Null if libwebrtc fails. PeerConnections and their observers run on `signaling_thread`, which is started and must
// outlive the result.
webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> MakeConnectionFactory(ConnectionFactoryConfig config,
                                                                                    webrtc::Thread* signaling_thread);

// The configuration of all PeerConnections. As in browsers, a decoded picture is delivered at once, with its render
// time.
webrtc::PeerConnectionInterface::RTCConfiguration ConnectionConfiguration();

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_CONNECTION_FACTORY_H_
