#include "virtual_call/simulcast_publisher.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "api/units/time_delta.h"

namespace weir::sim {
namespace {

constexpr int64_t kMaxPayloadBytes = 1100;
constexpr SimDuration kKeyFrameInterval = SimDuration::Millis(500);
constexpr double kHeldWithin = 0.05;
constexpr double kCameraFramesPerSecond = 30;
constexpr double kScreenFramesPerSecond = 5;

struct LayerFormat {
  int width;
  int height;
  DataRate rate;
};
constexpr std::array<LayerFormat, kSimulcastLayers> kCamera{{{320, 180, DataRate::KilobitsPerSecond(150)},
                                                             {640, 360, DataRate::KilobitsPerSecond(500)},
                                                             {1280, 720, DataRate::KilobitsPerSecond(1500)}}};
constexpr std::array<LayerFormat, kSimulcastLayers> kScreen{{{320, 180, DataRate::KilobitsPerSecond(100)},
                                                             {640, 360, DataRate::KilobitsPerSecond(300)},
                                                             {1280, 720, DataRate::KilobitsPerSecond(1000)}}};

int64_t PacketCount(int64_t bytes) { return (bytes + kMaxPayloadBytes - 1) / kMaxPayloadBytes; }

}  // namespace

SimulcastPublisher::SimulcastPublisher(size_t index, Kind kind, RandomStream random, VirtualClock* clock,
                                       webrtc::TaskQueueBase* queue,
                                       std::function<void(const SimulcastPacket&)> on_packet)
    : index_(index),
      frames_per_second_(kind == Kind::kCamera ? kCameraFramesPerSecond : kScreenFramesPerSecond),
      clock_(clock),
      queue_(queue),
      on_packet_(std::move(on_packet)),
      random_(random),
      first_timestamp_(static_cast<uint32_t>(random_.Next())),
      layers_([&] {
        const auto& formats = kind == Kind::kCamera ? kCamera : kScreen;
        const auto make = [&](const LayerFormat& format) {
          Layer layer{.width = format.width,
                      .height = format.height,
                      .rate = format.rate,
                      .model = Vp8Model(format.width, format.height, RandomStream(random_.Next(), 0))};
          layer.model.SetRate(static_cast<double>(format.rate.bps()), frames_per_second_);
          return layer;
        };
        return std::array<Layer, kSimulcastLayers>{make(formats[0]), make(formats[1]), make(formats[2])};
      }()) {
  for (size_t layer = 0; layer < kSimulcastLayers; ++layer) layers_[layer].held_rate = NominalRate(layer);
}

DataRate SimulcastPublisher::NominalRate(size_t layer) const {
  const double bytes = static_cast<double>(layers_[layer].rate.bps()) / 8 / frames_per_second_;
  const auto packets = static_cast<double>(PacketCount(static_cast<int64_t>(bytes)));
  const double overhead_bps = 8 * packets * kForwardedOverheadBytes * frames_per_second_;
  return layers_[layer].rate + DataRate::BitsPerSecond(std::llround(overhead_bps));
}

void SimulcastPublisher::Start() {
  const auto phase = SimDuration::Micros(std::llround(random_.Uniform(0, 1e6 / frames_per_second_)));
  first_capture_ = clock_->SimNow() + phase;
  queue_->PostDelayedHighPrecisionTask([this] { Capture(); }, webrtc::TimeDelta::Micros(phase.us()));
}

void SimulcastPublisher::Capture() {
  const SimTime now = clock_->SimNow();
  clock_->Guarded([&] {
    for (size_t layer = 0; layer < kSimulcastLayers; ++layer) Encode(layer, now);
  });
  ++pictures_;
  const auto next =
      first_capture_ + SimDuration::Micros(std::llround(1e6 * static_cast<double>(pictures_) / frames_per_second_));
  queue_->PostDelayedHighPrecisionTask([this] { Capture(); },
                                       webrtc::TimeDelta::Micros(NotNegative(next - clock_->SimNow()).us()));
}

void SimulcastPublisher::Encode(size_t index, SimTime capture_time) {
  Layer& layer = layers_[index];
  const bool key_frame = std::exchange(layer.key_frame_requested, false);
  const std::optional<Vp8Model::Frame> frame = layer.model.Encode(key_frame);
  if (!frame) {
    // A dropped picture answers no request.
    layer.key_frame_requested = key_frame;
    Measure(layer, 0);
    return;
  }
  const int64_t bytes = std::max<int64_t>(frame->bytes, 50);
  const int64_t packets = PacketCount(bytes);
  Measure(layer, 8 * (bytes + packets * kForwardedOverheadBytes));
  SimulcastPacket packet{.publisher = index_,
                         .layer = index,
                         .capture_time = capture_time,
                         .rtp_timestamp = first_timestamp_ + static_cast<uint32_t>(capture_time.us() * 9 / 100),
                         .key_frame = frame->key_frame,
                         .width = layer.width,
                         .height = layer.height};
  for (int64_t i = 0; i < packets; ++i) {
    packet.first = i == 0;
    packet.last = i + 1 == packets;
    packet.payload_size = static_cast<uint32_t>(bytes * (i + 1) / packets - bytes * i / packets);
    Send(packet);
  }
}

void SimulcastPublisher::Measure(Layer& layer, int64_t bits) const {
  const auto window = static_cast<size_t>(frames_per_second_);
  layer.bits.push_back(bits);
  if (layer.bits.size() < window) return;
  if (layer.bits.size() > window) layer.bits.erase(layer.bits.begin());
  const auto rate_bps = static_cast<double>(std::accumulate(layer.bits.begin(), layer.bits.end(), int64_t{0}));
  const auto held_bps = static_cast<double>(layer.held_rate.bps());
  if (std::abs(rate_bps - held_bps) > kHeldWithin * held_bps)
    layer.held_rate = DataRate::BitsPerSecond(std::max<int64_t>(std::llround(rate_bps), 1));
}

void SimulcastPublisher::Send(SimulcastPacket packet) {
  uplink_free_ = std::max(uplink_free_, clock_->SimNow()) +
                 TransmissionTime(packet.payload_size + kForwardedOverheadBytes, kUplinkRate.bps());
  const SimDuration wait = uplink_free_ - clock_->SimNow() + kUplinkDelay;
  queue_->PostDelayedHighPrecisionTask([this, packet] { clock_->Guarded([&] { on_packet_(packet); }); },
                                       webrtc::TimeDelta::Micros(wait.us()));
}

void SimulcastPublisher::RequestKeyFrame(size_t layer) {
  const SimTime now = clock_->SimNow();
  if (now - layers_[layer].request_time < kKeyFrameInterval) return;
  layers_[layer].request_time = now;
  queue_->PostDelayedHighPrecisionTask([this, layer] { layers_[layer].key_frame_requested = true; },
                                       webrtc::TimeDelta::Micros(kUplinkDelay.us()));
}

}  // namespace weir::sim
