// The options and codecs of the two peers of a virtual call, from its flow.
#ifndef WEIR_CALLS_VIRTUAL_CALL_PEER_SETUP_H_
#define WEIR_CALLS_VIRTUAL_CALL_PEER_SETUP_H_

#include <memory>
#include <string>
#include <string_view>

#include "endpoints/flow.h"
#include "frame_source.h"
#include "options.h"
#include "runtime.h"
#include "virtual_call/call_controller.h"

namespace weir::sim {

// The rate at which a sender's camera or screen captures: that of the scenario's video, at most a camera's 30 frames
// per second.
double CaptureRate(const MediaSpec& media);

// True if the receiver writes the media that it renders and plays; see CallMedia::received.
bool KeepsReceived(const Flow& flow);

// True if the sender sends audio of speech all the time, so that what the receiver conceals was lost or late.
bool HasSteadyAudio(const Flow& flow);

peer::Options MakePeerOptions(CallEnd end, const Flow& flow, const CallController& controller);

// The pictures that a sender captures. A file has its own frame rate. Throws ProgramError if it cannot be read.
std::unique_ptr<peer::FrameSource> MakePictures(const Flow& flow);

// Sets the audio codecs and the video decoders of either peer.
void SetCodecs(const Flow& flow, peer::Runtime& runtime);
// Makes the sender's video encoders.
std::unique_ptr<webrtc::VideoEncoderFactory> MakeEncoders(const Flow& flow);

// Returns the path of a log of the sender in the folder that an environment variable names; empty without it, and for
// flows that are not under test.
std::string LogPath(const char* variable, const Flow& flow, std::string_view extension);

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_PEER_SETUP_H_
