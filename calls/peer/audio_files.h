// WAV files for the audio that a call sends and plays.
#ifndef WEIR_CALLS_PEER_AUDIO_FILES_H_
#define WEIR_CALLS_PEER_AUDIO_FILES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "modules/audio_device/include/test_audio_device.h"

namespace weir::peer {

using AudioCapturer = webrtc::TestAudioDeviceModule::Capturer;
using AudioRenderer = webrtc::TestAudioDeviceModule::Renderer;

// Sampling rate of both files, which have 16 bits and one channel.
inline constexpr int kAudioRateHz = 48'000;
inline constexpr size_t kMaxRecordedSamples = size_t{600} * kAudioRateHz;

// Captures a file in a loop without a gap. Throws ProgramError.
std::unique_ptr<AudioCapturer> OpenAudioFile(const std::string& path);

// Records the audio played after NetEq, at most kMaxRecordedSamples, and writes the file in the destructor, so that no
// disk delays the audio device. `on_error` is called if that write fails. Throws ProgramError.
std::unique_ptr<AudioRenderer> RecordAudio(const std::string& path, std::function<void(std::string)> on_error);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_AUDIO_FILES_H_
