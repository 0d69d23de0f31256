#include "media/jitter_buffer.h"

#include <algorithm>
#include <optional>

#include "media/arrival_line.h"
#include "media/audio_buffer.h"
#include "media/frame_jitter.h"
#include "media/lip_sync.h"

namespace weir::sim {
namespace {

using Frame = FrameRecorder::Frame;
using AudioPacket = FrameRecorder::AudioPacket;

constexpr SimDuration kRenderDelay = SimDuration::Millis(10);
constexpr SimDuration kLongestWait = SimDuration::Seconds(10);

SimDuration FromMilliseconds(double ms) { return SimDuration::Nanos(static_cast<int64_t>(1e6 * ms)); }

class JitterBuffer {
 public:
  explicit JitterBuffer(SimDuration limit) : limit_(limit) {}

  // Call in the order of completion.
  void OnComplete(const Frame& frame) {
    last_complete_ = frame;
    if (!frame.retransmitted) arrivals_.OnFrame(frame.capture_time, frame.complete_time);
  }

  // The next frame to be decoded, which arrived with all before it at `decodable`; the decoder is free from `now` on.
  // Returns the time of decoding.
  SimTime Decode(const Frame& frame, SimTime decodable, SimTime now) {
    if (!arrivals_.is_empty()) ResetAfterBadTiming(frame, now);
    const bool at_once = last_rendered_.time == kNever || arrivals_.is_empty();
    const SimTime usual = at_once ? now : arrivals_.UsualArrival(frame.capture_time);
    const SimTime due = at_once ? now : usual + std::min(std::max(playout_delay_, minimum_), limit_);
    const SimTime due_without_audio = usual + std::min({playout_delay_, jitter_.Estimate() + kRenderDelay, limit_});
    const SimTime decoded = at_once ? now : std::max(now, due - kRenderDelay);
    UpdateDelay(frame, due, decoded);
    const SimTime earliest = last_rendered_.time == kNever ? decoded : std::max(last_rendered_.time, decoded);
    const SimTime rendered = at_once ? earliest : std::max(earliest, due);
    last_rendered_ = {.time = rendered, .lip_sync = SimDuration::Zero()};
    if (!at_once) last_rendered_.lip_sync = NotNegative(rendered - std::max(decodable, due_without_audio));
    return decoded;
  }

  // Call at each LipSync::kInterval in which both audio and video arrived.
  void Synchronize(AudioBuffer& audio) {
    const SimDuration latency = last_complete_.complete_time - last_complete_.capture_time;
    lip_sync_.Update(ToMilliseconds(latency + TargetDelay()) - audio.LatencyMs());
    minimum_ = FromMilliseconds(lip_sync_.video_ms());
    audio.SetMinimumDelay(lip_sync_.audio_ms());
  }

  RenderedFrame last_rendered() const { return last_rendered_; }

 private:
  // libwebrtc starts anew where a frame would be rendered in more than 10 s, or was to be 10 s ago.
  void ResetAfterBadTiming(const Frame& frame, SimTime now) {
    const SimDuration wait = arrivals_.UsualArrival(frame.capture_time) + playout_delay_ - now;
    if (wait <= kLongestWait && SimDuration::Zero() - wait <= kLongestWait && TargetDelay() <= kLongestWait) return;
    arrivals_ = {};
    jitter_ = {};
    minimum_ = playout_delay_ = SimDuration::Zero();
    last_delay_.reset();
  }

  SimDuration TargetDelay() const { return std::max(jitter_.Estimate() + kRenderDelay, minimum_); }

  void UpdateDelay(const Frame& frame, SimTime due, SimTime decoded) {
    if (frame.retransmitted) return;
    const SimDuration delay = frame.complete_time - frame.capture_time;
    jitter_.OnFrame(last_delay_ ? ToMilliseconds(delay - *last_delay_) : 0, static_cast<double>(frame.bytes), decoded);
    last_delay_ = delay;
    if (playout_delay_ == SimDuration::Zero()) playout_delay_ = jitter_.Estimate();
    const SimDuration lateness = NotNegative(decoded - (due - kRenderDelay));
    playout_delay_ = std::min(playout_delay_ + lateness, TargetDelay());
  }

  const SimDuration limit_;
  ArrivalLine arrivals_;
  FrameJitter jitter_;
  LipSync lip_sync_;
  SimDuration minimum_ = SimDuration::Zero();
  SimDuration playout_delay_ = SimDuration::Zero();
  std::optional<SimDuration> last_delay_;
  Frame last_complete_;
  RenderedFrame last_rendered_;
};

// Passes what has arrived to the buffers, in the order of time.
class Receiver {
 public:
  Receiver(std::span<const Frame> frames, std::span<const AudioPacket> audio, const PlayoutLimits& limits)
      : audio_(audio), buffer_(limits.video), audio_buffer_(limits.audio_quantile) {
    for (const Frame& frame : frames) {
      if (frame.complete_time != kNever) frames_.push_back(&frame);
    }
    std::ranges::stable_sort(frames_, {}, &Frame::complete_time);
  }

  SimTime Decode(const Frame& frame, SimTime now) {
    for (; next_sync_ <= now; next_sync_ += LipSync::kInterval) {
      Advance(next_sync_);
      if (new_audio_ && new_video_) buffer_.Synchronize(audio_buffer_);
      new_audio_ = new_video_ = false;
    }
    Advance(now);
    decodable_ = std::max(decodable_, frame.complete_time);
    return buffer_.Decode(frame, decodable_, now);
  }

  RenderedFrame last_rendered() const { return buffer_.last_rendered(); }

 private:
  void Advance(SimTime to) {
    for (; next_frame_ < frames_.size() && frames_[next_frame_]->complete_time <= to; ++next_frame_) {
      buffer_.OnComplete(*frames_[next_frame_]);
      new_video_ = true;
    }
    for (; next_audio_ < audio_.size() && audio_[next_audio_].arrival_time <= to; ++next_audio_) {
      audio_buffer_.OnPacket(audio_[next_audio_].capture_time, audio_[next_audio_].arrival_time);
      new_audio_ = true;
    }
  }

  std::vector<const Frame*> frames_;
  const std::span<const AudioPacket> audio_;
  size_t next_frame_ = 0;
  size_t next_audio_ = 0;
  SimTime next_sync_ = kTimeZero + LipSync::kInterval;
  SimTime decodable_ = kTimeZero;
  bool new_audio_ = false;
  bool new_video_ = false;
  JitterBuffer buffer_;
  AudioBuffer audio_buffer_;
};

}  // namespace

std::vector<RenderedFrame> RenderFrames(std::span<const Frame> frames, std::span<const AudioPacket> audio,
                                        const PlayoutLimits& limits) {
  Receiver receiver(frames, audio, limits);
  std::vector<RenderedFrame> rendered;
  rendered.reserve(frames.size());
  SimTime decoder_free = kTimeZero;
  for (const Frame& frame : frames) {
    if (frame.complete_time == kNever) {
      rendered.emplace_back();
      continue;
    }
    decoder_free = receiver.Decode(frame, std::max(decoder_free, frame.complete_time));
    rendered.push_back(receiver.last_rendered());
  }
  return rendered;
}

}  // namespace weir::sim
