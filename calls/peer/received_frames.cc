#include "received_frames.h"

#include <algorithm>
#include <utility>

#include "api/video/i420_buffer.h"
#include "frame_number.h"
#include "programs/json.h"
#include "rtc_base/time_utils.h"

namespace weir::peer {
namespace {

template <class T>
nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void WritePlane(std::ostream& out, const uint8_t* plane, int stride, int width, int height) {
  for (int row = 0; row < height; ++row) out.write(reinterpret_cast<const char*>(plane + row * stride), width);
}

}  // namespace

std::unique_ptr<ReceivedFrames> ReceivedFrames::Open(const std::string& path, int width, int height, bool at_once,
                                                     CaptureTime capture_time,
                                                     std::function<void(std::string)> on_error) {
  std::unique_ptr<ReceivedFrames> frames(
      new ReceivedFrames(width, height, at_once, std::move(capture_time), std::move(on_error)));
  frames->video_.open(path, std::ios::binary | std::ios::trunc);
  frames->index_.open(path + ".jsonl", std::ios::trunc);
  // The rate is nominal: the file has the pictures in order; the index has their times.
  frames->video_ << "YUV4MPEG2 W" << width << " H" << height << " F30:1 Ip A1:1 C420jpeg\n" << std::flush;
  if (!frames->video_ || !frames->index_) throw ProgramError("cannot write the received frames to " + path, kFailed);
  if (frames->thread_ != nullptr) frames->thread_->Start();
  return frames;
}

void ReceivedFrames::OnFrame(const webrtc::VideoFrame& frame) {
  Entry entry;
  // libwebrtc delivers a decoded picture with its render time; render times do not decrease.
  last_render_time_us_ = std::max({last_render_time_us_, webrtc::TimeMicros(), frame.timestamp_us()});
  entry.render_time_us = last_render_time_us_;
  entry.rtp_timestamp = frame.rtp_timestamp();
  entry.width = frame.width();
  entry.height = frame.height();
  if (!frame.packet_infos().empty())
    entry.capture_time_us = capture_time_(frame.packet_infos().begin()->ssrc(), frame.rtp_timestamp());
  for (const webrtc::RtpPacketInfo& packet : frame.packet_infos())
    entry.arrival_time_us = std::max(entry.arrival_time_us.value_or(0), packet.receive_time().us());
  const webrtc::scoped_refptr<webrtc::VideoFrameBuffer> picture = frame.video_frame_buffer();
  if (const auto* pixels = picture->GetI420()) entry.frame_number = ReadFrameNumber(*pixels);

  if (thread_ == nullptr) {
    entry.picture = picture;
    return Write(entry);
  }
  if (waiting_lines_ >= kMaxWaitingLines) return;
  if (waiting_pictures_ < kMaxWaitingPictures) entry.picture = picture;
  ++waiting_lines_;
  if (entry.picture != nullptr) ++waiting_pictures_;
  thread_->PostTask([this, entry = std::move(entry)] {
    Write(entry);
    if (entry.picture != nullptr) --waiting_pictures_;
    --waiting_lines_;
  });
}

void ReceivedFrames::Write(const Entry& entry) {
  const bool written = entry.picture != nullptr && WritePicture(*entry.picture);
  nlohmann::ordered_json line = {{"frame_number", OrNull(entry.frame_number)},
                                 {"capture_time_us", OrNull(entry.capture_time_us)},
                                 {"arrival_time_us", OrNull(entry.arrival_time_us)},
                                 {"render_time_us", entry.render_time_us},
                                 {"rtp_timestamp", entry.rtp_timestamp},
                                 {"width", entry.width},
                                 {"height", entry.height}};
  if (!written) line["written"] = false;
  // Flushed line by line, so that the index is complete if this process is killed.
  index_ << JsonText(line) << '\n' << std::flush;
  if ((!video_ || !index_) && !std::exchange(failed_, true)) on_error_("received frames cannot be written: disk full?");
}

bool ReceivedFrames::WritePicture(webrtc::VideoFrameBuffer& picture) {
  if (!video_) return false;
  webrtc::scoped_refptr<webrtc::I420BufferInterface> pixels = picture.ToI420();
  if (pixels == nullptr) return false;
  if (pixels->width() != width_ || pixels->height() != height_) {
    auto scaled = webrtc::I420Buffer::Create(width_, height_);
    scaled->ScaleFrom(*pixels);
    pixels = scaled;
  }
  video_ << "FRAME\n";
  WritePlane(video_, pixels->DataY(), pixels->StrideY(), pixels->width(), pixels->height());
  WritePlane(video_, pixels->DataU(), pixels->StrideU(), pixels->ChromaWidth(), pixels->ChromaHeight());
  WritePlane(video_, pixels->DataV(), pixels->StrideV(), pixels->ChromaWidth(), pixels->ChromaHeight());
  // Whole pictures only, for readers during the call.
  video_.flush();
  return static_cast<bool>(video_);
}

}  // namespace weir::peer
