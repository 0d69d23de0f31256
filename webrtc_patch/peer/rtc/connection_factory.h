// libwebrtc's factory of PeerConnections with everything this peer replaces in it: threads, sound hardware, network
// interfaces, event log, field trials and the sender's congestion control.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_CONNECTION_FACTORY_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_CONNECTION_FACTORY_H_

#include <memory>

#include "api/peer_connection_interface.h"
#include "api/transport/network_control.h"
#include "receive_side_switch.h"
#include "rtc/rtcp_observer.h"
#include "rtc_base/ip_address.h"
#include "rtc_base/thread.h"

namespace weir::peer {

struct ConnectionFactoryConfig {
  // kWeir: what this peer sends follows REMB. Otherwise GCC, with loss-based control as in browsers of today.
  ReceiveSideMode controller = ReceiveSideMode::kWeir;
  // Decides, in place of either, about what this peer sends.
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> network_controller;
  rtc::IPAddress bind_address;
  RtcpObserver rtcp_observer;
};

class ConnectionFactory {
 public:
  // Null when libwebrtc refuses.
  static std::unique_ptr<ConnectionFactory> Create(ConnectionFactoryConfig config);
  // All PeerConnections and tracks must be gone.
  ~ConnectionFactory();
  ConnectionFactory(const ConnectionFactory&) = delete;
  ConnectionFactory& operator=(const ConnectionFactory&) = delete;

  // Where PeerConnections and their observers live.
  rtc::Thread& signaling_thread() { return *signaling_thread_; }
  webrtc::PeerConnectionFactoryInterface& operator*() { return *factory_; }
  webrtc::PeerConnectionFactoryInterface* operator->() { return factory_.get(); }

 private:
  ConnectionFactory();

  const std::unique_ptr<rtc::Thread> network_thread_;
  const std::unique_ptr<rtc::Thread> worker_thread_;
  const std::unique_ptr<rtc::Thread> signaling_thread_;
  rtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> factory_;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_CONNECTION_FACTORY_H_
