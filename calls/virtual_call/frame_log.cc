#include "virtual_call/frame_log.h"

#include <algorithm>
#include <cmath>

#include "media/jitter_buffer.h"

namespace weir::sim {

using Json = nlohmann::ordered_json;

namespace {

constexpr SimDuration kBitrateWindow = SimDuration::Seconds(1);

}  // namespace

void FrameLog::OnCaptured(const webrtc::VideoFrame& frame) {
  capture_times_.insert_or_assign(frame.rtp_timestamp(), SimTime::Micros(frame.timestamp_us() - clock_->start_us()));
}

void FrameLog::OnEncoded(const webrtc::EncodedImage& image) {
  const auto captured = capture_times_.find(image.RtpTimestamp());
  if (captured == capture_times_.end()) return;
  index_[image.RtpTimestamp()] = frames_.size();
  frames_.push_back({.capture_time = captured->second,
                     .encoded_time = clock_->SimNow(),
                     .bytes = static_cast<int64_t>(image.size()),
                     .qp = image.qp_,
                     .height = static_cast<int>(image._encodedHeight),
                     .key_frame = image.IsKey()});
  capture_times_.erase(captured);
}

void FrameLog::OnPacketSent(uint32_t rtp_timestamp) {
  if (frames_.empty()) return;
  // The first packet is of the frame that was encoded first.
  if (!timestamp_offset_) {
    const auto first = std::ranges::find(index_, size_t{0}, [](const auto& entry) { return entry.second; });
    timestamp_offset_ = rtp_timestamp - first->first;
  }
  if (Frame* const frame = Find(rtp_timestamp)) {
    frame->is_sent = true;
    frame->sent_time = clock_->SimNow();
  }
}

void FrameLog::OnRetransmission(uint32_t rtp_timestamp) {
  Frame* const frame = timestamp_offset_ ? Find(rtp_timestamp) : nullptr;
  if (frame != nullptr && frame->decoded_time == kNever) frame->is_retransmitted = true;
}

void FrameLog::OnFrame(const webrtc::VideoFrame& frame) {
  Frame* const found = timestamp_offset_ ? Find(frame.rtp_timestamp()) : nullptr;
  if (found == nullptr) return;
  found->decoded_time = clock_->SimNow();
  found->arrived_time = ArrivedTime(frame.packet_infos(), found->decoded_time);
  // libwebrtc delivers a decoded frame with its render time; render times do not decrease.
  const SimTime render = SimTime::Micros(frame.timestamp_us() - clock_->start_us());
  last_rendered_ = std::max({last_rendered_, found->decoded_time, render});
  found->rendered_time = last_rendered_;
  if (viewing_ == nullptr) return;
  viewing_->OnFrame({.rendered_time = found->rendered_time,
                     .capture_time = found->capture_time,
                     .bitrate_bps = BitrateBps(*found),
                     .qp = std::max(found->qp, -1)});
}

SimTime FrameLog::ArrivedTime(const webrtc::RtpPacketInfos& packets, SimTime decoded_time) const {
  SimTime arrived = SimTime::MinusInfinity();
  for (const webrtc::RtpPacketInfo& packet : packets)
    arrived = std::max(arrived, SimTime::Micros(packet.receive_time().us() - clock_->start_us()));
  return packets.empty() ? decoded_time : std::min(arrived, decoded_time);
}

double FrameLog::BitrateBps(const Frame& frame) const {
  int64_t bytes = 0;
  for (size_t i = IndexOf(frame) + 1; i-- > 0;) {
    if (frames_[i].capture_time <= frame.capture_time - kBitrateWindow) break;
    bytes += frames_[i].bytes;
  }
  return static_cast<double>(bytes) * 8e9 / static_cast<double>(kBitrateWindow.ns());
}

FrameLog::Frame* FrameLog::Find(uint32_t packet_timestamp) {
  const auto found = index_.find(packet_timestamp - *timestamp_offset_);
  return found == index_.end() ? nullptr : &frames_[found->second];
}

std::vector<SimDuration> FrameLog::LipSync() const {
  std::vector<FrameRecorder::Frame> frames;
  frames.reserve(frames_.size());
  for (const Frame& frame : frames_) {
    frames.push_back({.capture_time = frame.capture_time,
                      .complete_time = frame.arrived_time,
                      .bytes = frame.bytes,
                      .retransmitted = frame.is_retransmitted});
  }
  const std::vector<RenderedFrame> without_audio = RenderFrames(frames, {}, {});
  std::vector<SimDuration> waits;
  waits.reserve(frames_.size());
  for (size_t i = 0; i < frames_.size(); ++i) {
    const bool is_rendered = frames_[i].rendered_time != kNever;
    waits.push_back(is_rendered ? NotNegative(frames_[i].rendered_time - without_audio[i].time) : SimDuration::Zero());
  }
  return waits;
}

Json FrameLog::Columns(SimTime end) const {
  const std::vector<SimDuration> lip_sync = LipSync();
  const auto column = [&](auto value_of) {
    Json values = Json::array();
    for (const Frame& frame : frames_) {
      if (frame.is_sent && frame.capture_time >= kTimeZero && frame.capture_time <= end)
        values.push_back(value_of(frame));
    }
    return values;
  };
  const auto time = [&](SimTime Frame::* member) {
    return column(
        [&, member](const Frame& frame) { return frame.*member > end ? Json(nullptr) : Json((frame.*member).us()); });
  };
  return {{"capture_time_us", time(&Frame::capture_time)},
          {"encoded_time_us", column([](const Frame& frame) { return frame.encoded_time.us(); })},
          {"arrived_time_us", time(&Frame::arrived_time)},
          {"complete_time_us", time(&Frame::decoded_time)},
          {"bytes", column([](const Frame& frame) { return frame.bytes; })},
          {"sent_time_us", column([](const Frame& frame) { return frame.sent_time.us(); })},
          {"key_frame", column([](const Frame& frame) { return frame.key_frame ? 1 : 0; })},
          {"rendered_time_us", time(&Frame::rendered_time)},
          {"lip_sync_us", column([&](const Frame& frame) { return lip_sync[IndexOf(frame)].us(); })},
          {"height", column([](const Frame& frame) { return frame.height; })},
          {"qp", column([](const Frame& frame) { return std::max(frame.qp, -1); })}};
}

}  // namespace weir::sim
