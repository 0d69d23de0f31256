// The session descriptions that pass between the plug-in and a publisher.
#ifndef WEIR_PLUGINS_JANUS_SESSION_DESCRIPTION_H_
#define WEIR_PLUGINS_JANUS_SESSION_DESCRIPTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "rtp_packets.h"

namespace weir::janus {

struct Offer {
  std::string session_id;                  // of the line o=, decimal; "" if it has none
  std::vector<std::string> abs_send_time;  // of each media section the line a=extmap, or ""
};

// `sdp` is untrusted.
Offer ReadOffer(std::string_view sdp);

struct Answer {
  std::string sdp;
  Negotiated negotiated;
  bool receives_video = false;  // false: `sdp` is unchanged, and there is nothing to estimate
};

// Accepts the offered abs-send-time in all media sections that receive. If `in_charge`, it also sets Chromium's start
// and maximum rates (docs/remb.md).
Answer CompleteAnswer(std::string_view sdp, const Offer& offer, bool in_charge);

}  // namespace weir::janus

#endif  // WEIR_PLUGINS_JANUS_SESSION_DESCRIPTION_H_
