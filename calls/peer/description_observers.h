// Observers of libwebrtc, each of which calls a function on the signaling thread when a description is set.
#ifndef WEIR_CALLS_PEER_DESCRIPTION_OBSERVERS_H_
#define WEIR_CALLS_PEER_DESCRIPTION_OBSERVERS_H_

#include <functional>
#include <utility>

#include "api/rtc_error.h"
#include "api/set_local_description_observer_interface.h"
#include "api/set_remote_description_observer_interface.h"

namespace weir::peer {

class OnLocalDescriptionSet : public webrtc::SetLocalDescriptionObserverInterface {
 public:
  using Function = std::function<void(webrtc::RTCError)>;
  explicit OnLocalDescriptionSet(Function function) : function_(std::move(function)) {}
  void OnSetLocalDescriptionComplete(webrtc::RTCError error) override { function_(std::move(error)); }

 private:
  const Function function_;
};

class OnRemoteDescriptionSet : public webrtc::SetRemoteDescriptionObserverInterface {
 public:
  using Function = std::function<void(webrtc::RTCError)>;
  explicit OnRemoteDescriptionSet(Function function) : function_(std::move(function)) {}
  void OnSetRemoteDescriptionComplete(webrtc::RTCError error) override { function_(std::move(error)); }

 private:
  const Function function_;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_DESCRIPTION_OBSERVERS_H_
