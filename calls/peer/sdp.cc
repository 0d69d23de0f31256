#include "sdp.h"

#include <vector>

#include "api/rtp_parameters.h"
#include "media/base/codec.h"
#include "media/base/media_constants.h"
#include "p2p/base/transport_description.h"
#include "pc/session_description.h"

namespace weir::peer {
namespace {

using webrtc::Codec;
using webrtc::SessionDescriptionInterface;

// True for video codecs other than RTX, RED and FEC.
bool IsOfPictures(const Codec& codec) {
  return codec.type == Codec::Type::kVideo && codec.GetResiliencyType() == Codec::ResiliencyType::kNone;
}

template <class Change>
void ChangeCodecs(SessionDescriptionInterface& description, Change change) {
  for (webrtc::ContentInfo& content : description.description()->contents()) {
    std::vector<Codec> codecs = content.media_description()->codecs();
    for (Codec& codec : codecs) change(codec);
    content.media_description()->set_codecs(codecs);
  }
}

}  // namespace

void RemoveTransportCc(SessionDescriptionInterface& description) {
  ChangeCodecs(description, [](Codec& codec) {
    codec.feedback_params.Remove(webrtc::FeedbackParam(webrtc::kRtcpFbParamTransportCc));
  });
  for (webrtc::ContentInfo& content : description.description()->contents()) {
    auto extensions = content.media_description()->rtp_header_extensions();
    std::erase_if(extensions, [](const webrtc::RtpExtension& extension) {
      return extension.uri == webrtc::RtpExtension::kTransportSequenceNumberUri ||
             extension.uri == webrtc::RtpExtension::kTransportSequenceNumberV2Uri;
    });
    content.media_description()->set_rtp_header_extensions(extensions);
  }
}

void BecomeDtlsServer(SessionDescriptionInterface& answer) {
  for (webrtc::TransportInfo& transport : answer.description()->transport_infos()) {
    if (transport.description.connection_role == webrtc::CONNECTIONROLE_ACTIVE)
      transport.description.connection_role = webrtc::CONNECTIONROLE_PASSIVE;
  }
}

void SetBitrates(SessionDescriptionInterface& description, std::optional<int64_t> start_kbps) {
  ChangeCodecs(description, [start_kbps](Codec& codec) {
    if (!IsOfPictures(codec)) return;
    if (start_kbps) codec.SetParam(webrtc::kCodecParamStartBitrate, static_cast<int>(*start_kbps));
    codec.SetParam(webrtc::kCodecParamMaxBitrate, static_cast<int>(kMaxBitrateKbps));
  });
}

std::map<int, PacketKind> PacketKinds(const SessionDescriptionInterface& description) {
  std::map<int, PacketKind> kinds;
  for (const webrtc::ContentInfo& content : description.description()->contents()) {
    for (const Codec& codec : content.media_description()->codecs()) {
      const bool is_rtx = codec.GetResiliencyType() == Codec::ResiliencyType::kRtx;
      kinds[codec.id] = is_rtx                              ? PacketKind::kRetransmission
                        : codec.type == Codec::Type::kVideo ? PacketKind::kVideo
                                                            : PacketKind::kAudio;
    }
  }
  return kinds;
}

// libwebrtc's descriptions have no `a=tool` line.
std::string TextWithTool(const SessionDescriptionInterface& description) {
  std::string sdp;
  description.ToString(&sdp);
  return sdp.insert(sdp.find("\nm=") + 1, "a=tool:weir-peer\r\n");
}

bool HasTool(std::string_view sdp) {
  return sdp.substr(0, sdp.find("\nm=")).find("\na=tool:weir-peer") != std::string_view::npos;
}

}  // namespace weir::peer
