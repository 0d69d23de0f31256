// libwebrtc's observers of descriptions, each calling a function. All are called on the signaling thread.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_DESCRIPTION_OBSERVERS_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_DESCRIPTION_OBSERVERS_H_

#include <functional>
#include <memory>
#include <utility>

#include "api/jsep.h"
#include "api/rtc_error.h"
#include "api/set_local_description_observer_interface.h"
#include "api/set_remote_description_observer_interface.h"
#include "api/stats/rtc_stats_collector_callback.h"

namespace weir::peer {

class OnDescriptionCreated : public webrtc::CreateSessionDescriptionObserver {
 public:
  using Function = std::function<void(webrtc::RTCErrorOr<std::unique_ptr<webrtc::SessionDescriptionInterface>>)>;
  explicit OnDescriptionCreated(Function function) : function_(std::move(function)) {}
  void OnSuccess(webrtc::SessionDescriptionInterface* description) override {
    function_(std::unique_ptr<webrtc::SessionDescriptionInterface>(description));
  }
  void OnFailure(webrtc::RTCError error) override { function_(std::move(error)); }

 private:
  const Function function_;
};

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

class OnStats : public webrtc::RTCStatsCollectorCallback {
 public:
  using Function = std::function<void(const webrtc::RTCStatsReport&)>;
  explicit OnStats(Function function) : function_(std::move(function)) {}
  void OnStatsDelivered(const rtc::scoped_refptr<const webrtc::RTCStatsReport>& report) override { function_(*report); }

 private:
  const Function function_;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_DESCRIPTION_OBSERVERS_H_
