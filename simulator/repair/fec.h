// Repair without a round trip: ULPFEC (RFC 5109) as libwebrtc's sender of VP8 uses it with NACK.
//
// FecController determines its amount, FecGenerator makes it, FecReceiver repairs with it.
#ifndef WEIR_SIMULATOR_REPAIR_FEC_H_
#define WEIR_SIMULATOR_REPAIR_FEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/packet.h"
#include "media/media_source.h"
#include "weir/units.h"

namespace weir::sim {

// FEC packets per 256 video packets, for groups of delta frames and for those with a key frame, and the most frames of
// a group.
struct FecParameters {
  int delta_rate = 0;
  int key_rate = 0;
  int max_frames = 1;
};

class FecController {
 public:
  // Call for each receiver report.
  void OnLossRatio(double loss_ratio, SimTime now);
  // The parameters for an encoder with that target, by the largest loss ratio of the last 10 s.
  FecParameters Parameters(DataRate target_rate, double frames_per_second, SimDuration round_trip_time, SimTime now);

 private:
  struct Report {
    SimTime time = kTimeZero;
    int loss = 0;
  };
  // A report counts until the next one, and then for the window.
  void Forget(SimTime now);

  RingBuffer<Report> reports_;
};

class FecGenerator {
 public:
  void SetParameters(const FecParameters& parameters);
  bool active() const { return parameters_.delta_rate > 0 || parameters_.key_rate > 0; }
  // Call while active for each video packet sent, in the order of sequence numbers. Returns the FEC packets that follow
  // it.
  std::vector<MediaPacket> OnSent(const Packet& packet);

 private:
  // Packets that are not protected yet.
  struct Group {
    int64_t first_sequence_number = 0;
    int packets = 0;
    int frames = 0;
    bool key_frame = false;
    uint32_t largest_payload_bytes = 0;
  };

  FecParameters parameters_;
  Group group_;
};

class FecReceiver {
 public:
  // The path has lost a video packet.
  void OnLost(const Packet& packet);
  // One of the lost packets arrived as a retransmission.
  void OnRetransmission(int64_t sequence_number) { lost_.erase(sequence_number); }
  // Returns the lost packet that an FEC packet recovers, if only one of those that it protects is lost.
  std::optional<Packet> OnFec(const Packet& fec);

 private:
  // By sequence number.
  std::map<int64_t, Packet> lost_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_FEC_H_
