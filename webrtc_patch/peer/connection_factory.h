// libwebrtc's factory of PeerConnections with the parts that weir-peer replaces: audio device, network interfaces,
// event log, field trials and the sender's congestion control.
#ifndef WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_
#define WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_

#include <memory>

#include "api/peer_connection_interface.h"
#include "api/transport/network_control.h"
#include "audio_files.h"
#include "controllers/field_trials.h"
#include "receive_side_switch.h"
#include "rtc_base/thread.h"
#include "rtcp_observer.h"
#include "runtime.h"

namespace weir::peer {

struct ConnectionFactoryConfig {
  // kWeir: the sender follows REMB. Otherwise it has GCC.
  ReceiveSideMode controller = ReceiveSideMode::kWeir;
  // Replaces both at the sender.
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> network_controller;
  // Offers RFC 8888 feedback, so that packets are sent as ECT(1). A receiver whose sender decides accepts it anyhow.
  bool congestion_control_feedback = false;
  // libwebrtc's, for the whole process.
  FieldTrials field_trials;
  // Its network manager and codecs are moved from.
  Runtime* runtime = nullptr;
  // Null: pulses of quiet noise.
  std::unique_ptr<AudioCapturer> audio_capturer;
  // Null: what is played is discarded.
  std::unique_ptr<AudioRenderer> audio_renderer;
  RtcpObserver rtcp_observer;
};

// Null if libwebrtc fails. `signaling_thread`, which runs, is that of PeerConnections and their observers, and outlives
// the result.
webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> MakeConnectionFactory(ConnectionFactoryConfig config,
                                                                                    webrtc::Thread* signaling_thread);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_
