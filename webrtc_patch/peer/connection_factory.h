// libwebrtc's factory of PeerConnections with the parts that weir-peer replaces: threads, audio device, network
// interfaces, event log, field trials and the sender's congestion control.
#ifndef WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_
#define WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_

#include <memory>

#include "api/peer_connection_interface.h"
#include "api/transport/network_control.h"
#include "audio_files.h"
#include "field_trials.h"
#include "receive_side_switch.h"
#include "rtc_base/ip_address.h"
#include "rtc_base/network.h"
#include "rtc_base/thread.h"
#include "rtcp_observer.h"

namespace weir::peer {

struct ConnectionFactoryConfig {
  // kWeir: the sender follows REMB. Otherwise it has GCC.
  ReceiveSideMode controller = ReceiveSideMode::kWeir;
  // Replaces both at the sender.
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> network_controller;
  // libwebrtc's, for the whole process.
  FieldTrials field_trials;
  webrtc::IPAddress bind_address;
  // Null: pulses of quiet noise.
  std::unique_ptr<AudioCapturer> audio_capturer;
  // Null: what is played is discarded.
  std::unique_ptr<AudioRenderer> audio_renderer;
  RtcpObserver rtcp_observer;
};

class ConnectionFactory {
 public:
  // Null if libwebrtc fails.
  static std::unique_ptr<ConnectionFactory> Create(ConnectionFactoryConfig config);
  // All PeerConnections and tracks must be destroyed.
  ~ConnectionFactory();
  ConnectionFactory(const ConnectionFactory&) = delete;
  ConnectionFactory& operator=(const ConnectionFactory&) = delete;

  // The thread of PeerConnections and their observers.
  webrtc::Thread& signaling_thread() { return *signaling_thread_; }
  webrtc::PeerConnectionFactoryInterface& operator*() { return *factory_; }
  webrtc::PeerConnectionFactoryInterface* operator->() { return factory_.get(); }

 private:
  ConnectionFactory();

  const std::unique_ptr<webrtc::Thread> network_thread_;
  const std::unique_ptr<webrtc::Thread> worker_thread_;
  const std::unique_ptr<webrtc::Thread> signaling_thread_;
  webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> factory_;
};

// The only network of ICE, that of a given address. Other interfaces are neither enumerated nor announced.
std::unique_ptr<webrtc::NetworkManager> MakeBoundNetwork(const webrtc::IPAddress& address);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_CONNECTION_FACTORY_H_
