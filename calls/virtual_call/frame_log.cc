#include "virtual_call/frame_log.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {

using Json = nlohmann::ordered_json;

namespace {

constexpr int64_t kBitrateWindowNs = 1'000'000'000;

}  // namespace

void FrameLog::OnCaptured(const webrtc::VideoFrame& frame) {
  capture_times_ns_[frame.rtp_timestamp()] = (frame.timestamp_us() - clock_->start_us()) * 1000;
}

void FrameLog::OnEncoded(const webrtc::EncodedImage& image) {
  const auto captured = capture_times_ns_.find(image.RtpTimestamp());
  if (captured == capture_times_ns_.end()) return;
  index_[image.RtpTimestamp()] = frames_.size();
  frames_.push_back({.capture_ns = captured->second,
                     .bytes = static_cast<int64_t>(image.size()),
                     .qp = image.qp_,
                     .height = static_cast<int>(image._encodedHeight),
                     .key_frame = image.IsKey()});
  capture_times_ns_.erase(captured);
}

void FrameLog::OnPacketSent(uint32_t rtp_timestamp) {
  if (frames_.empty()) return;
  // The first packet is of the frame that was encoded first.
  if (!timestamp_offset_) {
    const auto first = std::ranges::find(index_, size_t{0}, [](const auto& entry) { return entry.second; });
    timestamp_offset_ = rtp_timestamp - first->first;
  }
  if (Frame* const frame = Find(rtp_timestamp)) {
    frame->sent = true;
    frame->sent_ns = clock_->NowNs();
  }
}

void FrameLog::OnFrame(const webrtc::VideoFrame& frame) {
  Frame* const found = timestamp_offset_ ? Find(frame.rtp_timestamp()) : nullptr;
  if (found == nullptr) return;
  found->decoded_ns = clock_->NowNs();
  // libwebrtc delivers a decoded frame with its render time; render times do not decrease.
  const int64_t render_ns = (frame.timestamp_us() - clock_->start_us()) * 1000;
  last_rendered_ns_ = std::max({last_rendered_ns_, found->decoded_ns, render_ns});
  found->rendered_ns = last_rendered_ns_;
  if (viewing_ == nullptr) return;
  viewing_->OnFrame({.rendered_ns = found->rendered_ns,
                     .capture_ns = found->capture_ns,
                     .bitrate_bps = BitrateBps(*found),
                     .qp = std::max(found->qp, -1)});
}

double FrameLog::BitrateBps(const Frame& frame) const {
  int64_t bytes = 0;
  for (size_t i = static_cast<size_t>(&frame - frames_.data()) + 1; i-- > 0;) {
    if (frames_[i].capture_ns <= frame.capture_ns - kBitrateWindowNs) break;
    bytes += frames_[i].bytes;
  }
  return static_cast<double>(bytes) * 8e9 / static_cast<double>(kBitrateWindowNs);
}

FrameLog::Frame* FrameLog::Find(uint32_t packet_timestamp) {
  const auto found = index_.find(packet_timestamp - *timestamp_offset_);
  return found == index_.end() ? nullptr : &frames_[found->second];
}

Json FrameLog::Columns(int64_t end_ns) const {
  const auto column = [&](auto value_of) {
    Json values = Json::array();
    for (const Frame& frame : frames_) {
      if (frame.sent && frame.capture_ns >= 0 && frame.capture_ns <= end_ns) values.push_back(value_of(frame));
    }
    return values;
  };
  const auto time = [&](int64_t Frame::* member) {
    return column([&, member](const Frame& frame) {
      return frame.*member > end_ns ? Json(nullptr) : Json(frame.*member / 1000);
    });
  };
  return {{"capture_time_us", time(&Frame::capture_ns)},
          {"complete_time_us", time(&Frame::decoded_ns)},
          {"bytes", column([](const Frame& frame) { return frame.bytes; })},
          {"sent_time_us", column([](const Frame& frame) { return frame.sent_ns / 1000; })},
          {"key_frame", column([](const Frame& frame) { return frame.key_frame ? 1 : 0; })},
          {"rendered_time_us", time(&Frame::rendered_ns)},
          {"height", column([](const Frame& frame) { return frame.height; })},
          {"qp", column([](const Frame& frame) { return std::max(frame.qp, -1); })}};
}

}  // namespace weir::sim
