// A publisher of a room: a camera or a screen in three simulcast layers of VP8, as an SFU receives them.
#ifndef WEIR_CALLS_VIRTUAL_CALL_SIMULCAST_PUBLISHER_H_
#define WEIR_CALLS_VIRTUAL_CALL_SIMULCAST_PUBLISHER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "api/task_queue/task_queue_base.h"
#include "core/random.h"
#include "core/sim_time.h"
#include "virtual_call/virtual_clock.h"
#include "virtual_call/vp8_model.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr size_t kSimulcastLayers = 3;

// One RTP packet of a layer at the SFU. Packets of a layer arrive complete and in order.
struct SimulcastPacket {
  size_t publisher = 0;
  size_t layer = 0;
  // Times of the frame. All layers of a picture have its timestamp, at 90 kHz.
  SimTime capture_time = kTimeZero;
  uint32_t rtp_timestamp = 0;
  bool key_frame = false;
  bool first = false;
  bool last = false;
  int width = 0;
  int height = 0;
  // VP8's bytes, without the payload descriptor.
  uint32_t payload_size = 0;
};

// Bytes that a forwarded packet has beside VP8's: IPv4, UDP, RTP with one extension, payload descriptor, tag of SRTP.
inline constexpr uint32_t kForwardedOverheadBytes = 20 + 8 + 20 + 4 + 10;

// Encodes each picture with a Vp8Model per layer and sends the layers over an uplink without loss: the lowest layer
// first, packets at kUplinkRate, each kUplinkDelay later at the SFU.
class SimulcastPublisher {
 public:
  enum class Kind : uint8_t { kCamera, kScreen };
  static constexpr DataRate kUplinkRate = DataRate::KilobitsPerSecond(10'000);
  static constexpr SimDuration kUplinkDelay = SimDuration::Millis(20);

  // Everything must outlive this object, and this object the tasks of `queue`.
  SimulcastPublisher(size_t index, Kind kind, RandomStream random, VirtualClock* clock, webrtc::TaskQueueBase* queue,
                     std::function<void(const SimulcastPacket&)> on_packet);

  // Captures pictures from now on. Call once, on `queue`.
  void Start();
  // Makes the next picture of a layer a key frame, kUplinkDelay later; ignored within 500 ms after another request.
  void RequestKeyFrame(size_t layer);
  // The mean rate of a layer over the latest second, as IP packets; before the first second its nominal rate. Steps
  // below 5 % are ignored.
  DataRate LayerRate(size_t layer) const { return layers_[layer].held_rate; }
  // The rate that the layer's encoder is set to, as IP packets.
  DataRate NominalRate(size_t layer) const;

 private:
  struct Layer {
    int width;
    int height;
    DataRate rate;  // of the encoder
    Vp8Model model;
    bool key_frame_requested = true;
    SimTime request_time = SimTime::MinusInfinity();
    // Bits of each of the latest pictures.
    std::vector<int64_t> bits = {};
    DataRate held_rate = DataRate::Zero();
  };

  void Capture();
  void Encode(size_t index, SimTime capture_time);
  void Measure(Layer& layer, int64_t bits) const;
  void Send(SimulcastPacket packet);

  const size_t index_;
  const double frames_per_second_;
  VirtualClock* const clock_;
  webrtc::TaskQueueBase* const queue_;
  const std::function<void(const SimulcastPacket&)> on_packet_;
  RandomStream random_;
  const uint32_t first_timestamp_;
  std::array<Layer, kSimulcastLayers> layers_;
  SimTime first_capture_ = kTimeZero;
  int64_t pictures_ = 0;
  // When the uplink has sent all packets.
  SimTime uplink_free_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_SIMULCAST_PUBLISHER_H_
