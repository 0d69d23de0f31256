// A receiver that never rests: `weir_soak PACKETS` hands that many packets to one estimator, 1157 a simulated second,
// so that 10^8 are 24 hours. Streams begin and end all the time, with and without abs-send-time, lossy, late and twice.
// After warm-up nothing may be allocated, and memory must stay as it is. Prints what it measured as JSON; exit status 1
// when something does not hold.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arrival/arrival_statistics.h"
#include "counted_allocations.h"
#include "read_file.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"
#include "weir/remb_sender.h"

namespace weir {
namespace {

constexpr int64_t kPacketsPerDay = 100'000'000;
constexpr int64_t kUsPerDay = int64_t{24} * 3600 * 1'000'000;
constexpr size_t kStreams = 6;
constexpr int64_t kMaxGrowthBytes = 256 * 1024;

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "weir_soak: %s\n", what);
  std::exit(1);
}

int64_t ResidentBytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

BandwidthEstimator MakeEstimator() {
  const std::vector<std::byte> content = ReadFile(WEIR_SHIPPED_MODEL);
  const auto specification = ParsePool("pilot=weir copilots=nada,rule fusion=median policy=by_trust");
  Check(specification.ok(), "the line of the pool is refused");
  auto pool = PoolController::Create(specification.value(), [&](const std::string& member) {
    return MakeController(
        member, [&](const std::string&) { return PolicyModel::Load(content); }, DataRate::KilobitsPerSecond(300));
  });
  Check(pool.ok(), "the pool cannot be made");
  auto estimator = BandwidthEstimator::Create({}, std::move(pool.value()));
  Check(estimator.ok(), "the estimator cannot be made");
  return std::move(estimator.value());
}

struct Stream {
  uint32_t ssrc = 0;
  uint16_t sequence_number = 0;
  uint32_t rtp_offset = 0;
  int64_t packets_left = 0;
};

class Soak {
 public:
  explicit Soak(int64_t packets) : packets_(packets), estimator_(MakeEstimator()) {}

  void Run() {
    // Every slot for a stream, with all that can be known of one.
    for (size_t i = 0; i < 2 * ArrivalStatistics::kMaxSsrcs; ++i) {
      for (Stream& stream : streams_) Begin(stream);
      Send(streams_[0], /*abs_send_time=*/false);
    }
    // And all who decide have decided.
    for (int i = 0; i < 10'000; ++i) Step(/*abs_send_time=*/true);
    const int64_t resident = ResidentBytes(), allocations = CountedAllocations();
    const size_t used = mallinfo2().uordblks;
    for (int64_t i = 0; i < packets_; ++i) {
      // Without abs-send-time for a tenth of the time, far longer than it is waited for.
      Step(/*abs_send_time=*/i % (packets_ / 4) >= packets_ / 40);
      if (i % (packets_ / 100) == 0) CheckEstimator();
    }
    // Before anything is read or printed, which allocates too.
    const int64_t allocated = CountedAllocations() - allocations;
    const bool same = mallinfo2().uordblks == used;
    const int64_t growth = ResidentBytes() - resident;
    const EstimatorStatistics statistics = estimator_.Statistics(now_);
    std::printf(
        "{\"packets\": %lld, \"simulated_s\": %.0f, \"streams\": %lld, \"packets_received\": %lld, \"decisions\": "
        "%llu, "
        "\"allocations\": %lld, \"resident_growth_bytes\": %lld}\n",
        static_cast<long long>(packets_), now_.seconds(), static_cast<long long>(begun_),
        static_cast<long long>(statistics.total.packets),
        static_cast<unsigned long long>(estimator_.counters().controller.decisions), static_cast<long long>(allocated),
        static_cast<long long>(growth));
    Check(allocated == 0, "something was allocated");
    Check(same, "memory in use has changed");
    Check(growth <= kMaxGrowthBytes, "resident memory has grown");
    Check(statistics.total.packets > packets_ / 2, "most packets were refused");
    Check(estimator_.counters().controller.decisions > 0 && estimator_.counters().controller.faults == 0,
          "the model failed");
    Check(estimator_.counters().arrivals.ssrc_evictions > 0, "streams never were too many");
  }

 private:
  int64_t Uniform(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  void Begin(Stream& stream) {
    stream = {.ssrc = static_cast<uint32_t>(random_()),
              .sequence_number = static_cast<uint16_t>(random_()),
              .rtp_offset = static_cast<uint32_t>(random_()),
              .packets_left = Uniform(1, packets_ / 500)};
    ++begun_;
  }

  void Send(Stream& stream, bool abs_send_time) {
    const int64_t delay_us = 25'000 + Uniform(0, 4000) + (now_.us() / 1'000'000 % 60 < 5 ? 40'000 : 0);
    const int64_t sent_us = now_.us() - delay_us;
    PacketArrival packet;
    packet.arrival_time = now_;
    packet.ssrc = stream.ssrc;
    packet.sequence_number = stream.sequence_number++;
    packet.has_abs_send_time = abs_send_time;
    packet.abs_send_time = AbsSendTime(Timestamp::Micros(sent_us));
    packet.rtp_clock_rate = 90'000;
    packet.rtp_timestamp = stream.rtp_offset + static_cast<uint32_t>(sent_us * 9 / 100);
    packet.header_size = 20;
    packet.payload_size = static_cast<uint32_t>(Uniform(50, 1200));
    const int64_t chance = Uniform(0, 999);
    if (chance < 10) return;  // lost
    estimator_.OnPacket(packet);
    if (chance < 12) estimator_.OnPacket(packet);
  }

  void Step(bool abs_send_time) {
    const auto number = static_cast<double>(++step_);
    now_ = Timestamp::Micros(static_cast<int64_t>(number * static_cast<double>(kUsPerDay) / kPacketsPerDay));
    Stream& stream = streams_[static_cast<size_t>(Uniform(0, kStreams - 1))];
    if (stream.packets_left-- <= 0) {
      // One in five sends BYE.
      if (Uniform(0, 4) == 0) estimator_.RemoveStream(stream.ssrc);
      Begin(stream);
    }
    Send(stream, abs_send_time);
    if (step_ % 1157 == 0) estimator_.OnRoundTripTime(TimeDelta::Millis(Uniform(1, 300)), now_);
    while (remb_sender_.next_timeout(estimator_) <= now_) {
      if (!remb_sender_.OnTimeout(estimator_, now_).remb_due) continue;
      std::array<uint8_t, RembSize(kMaxRembSsrcs)> bytes{};
      Check(WriteRemb(RembFor(estimator_), bytes) > 0, "no REMB");
    }
  }

  void CheckEstimator() {
    std::array<uint32_t, ArrivalStatistics::kMaxSsrcs> ssrcs{};
    Check(step_ < 100 || estimator_.Ssrcs(ssrcs) >= 1, "no stream goes on");
    const DataRate target = estimator_.latest().target_rate;
    const TargetRateConstraints bounds;
    Check(target >= bounds.min_rate && target <= bounds.max_rate, "the target is out of bounds");
    const EstimatorStatistics statistics = estimator_.Statistics(now_);
    Check(statistics.last_second.loss_ratio >= 0 && statistics.last_second.loss_ratio <= 1, "loss is no share");
  }

  const int64_t packets_;
  BandwidthEstimator estimator_;
  RembSender remb_sender_;
  std::mt19937_64 random_{1};
  std::array<Stream, kStreams> streams_;
  Timestamp now_ = Timestamp::Micros(0);
  int64_t step_ = 0;
  int64_t begun_ = 0;
};

}  // namespace
}  // namespace weir

int main(int argument_count, char** arguments) {
  const int64_t packets = argument_count == 2 ? std::strtoll(arguments[1], nullptr, 10) : 0;
  if (packets < 100'000) {
    std::fprintf(stderr, "usage: weir_soak PACKETS (at least 100000)\n");
    return 2;
  }
  weir::Soak(packets).Run();
}
