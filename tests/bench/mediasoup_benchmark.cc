// A room of mediasoup: the CPU time of Weir for one second of 300 subscribers, each of whom receives 1.5 Mbps, with
// feedback every 100 ms and a process interval of 25 ms. Counters, in CPU time: `core_share` of one core, 0 to 1;
// `us_p50` and `us_p99` of the single messages of feedback, each of which makes one decision; `resident_mb` of the
// process.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "downlink.h"

namespace weir::mediasoup {
namespace {

constexpr int64_t kSubscribers = 300;
constexpr int kWarmUpSeconds = 3;
constexpr int kSeconds = 10;
constexpr uint32_t kPacketBytes = 1200;
constexpr int64_t kPacketIntervalUs = 6'400;
constexpr int64_t kProcessIntervalUs = 25'000;
constexpr int64_t kFeedbackIntervalUs = 100'000;
constexpr int64_t kOtherBps = 500'000;

class Subscriber {
 public:
  Subscriber(const Settings& settings, int64_t phase_us)
      : downlink_(settings, "a", {30'000, 600'000, 2'000'000}), now_us_(1'000'000 + phase_us), sent_us_(now_us_) {
    downlink_.SetDesiredRate(2'000'000);
  }

  // One process interval. Adds the duration of a message of feedback to `feedback_us`.
  void Run(std::vector<double>& feedback_us) {
    const int64_t end_us = now_us_ + kProcessIntervalUs;
    for (; sent_us_ < end_us; sent_us_ += kPacketIntervalUs) {
      downlink_.OnSentPacket(number_, sent_us_, kPacketBytes, 0);
      downlink_.Update(kOtherBps, sent_us_);
      const int64_t jitter_us = int64_t{number_} * 7919 % 4000;
      feedback_.push_back({(sent_us_ + 25'000 + jitter_us) / 1000 * 1000, number_++, WEIR_PACKET_RECEIVED, 0});
    }
    now_us_ = end_us;
    if (now_us_ - reported_us_ >= kFeedbackIntervalUs) {
      reported_us_ = now_us_;
      const double began = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
      downlink_.OnFeedback(feedback_, now_us_);
      downlink_.Update(kOtherBps, now_us_);
      feedback_us.push_back((CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - began) * 1e6);
      feedback_.clear();
    } else {
      downlink_.Update(kOtherBps, now_us_);
    }
    benchmark::DoNotOptimize(downlink_.target_bps());
  }

 private:
  Downlink downlink_;
  int64_t now_us_;
  int64_t sent_us_;
  int64_t reported_us_ = 0;
  uint16_t number_ = 0;
  std::vector<weir_packet_feedback> feedback_;
};

double ResidentMb() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) * 1e-6;
}

void MediasoupRoom(benchmark::State& state) {
  std::string error;
  const std::unique_ptr<Settings> settings = LoadSettings(WEIR_SHIPPED_MODEL, "", error);
  if (settings == nullptr) {
    state.SkipWithError(error.c_str());
    return;
  }
  std::vector<double> feedback_us;
  double share = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<Subscriber>> subscribers;
    subscribers.reserve(kSubscribers);
    for (int64_t i = 0; i < kSubscribers; ++i) {
      subscribers.push_back(std::make_unique<Subscriber>(*settings, i * kFeedbackIntervalUs / kSubscribers));
    }
    double began = 0;
    for (int second = 0; second < kWarmUpSeconds + kSeconds; ++second) {
      if (second == kWarmUpSeconds) {
        feedback_us.clear();
        began = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
      }
      for (int64_t time_us = 0; time_us < 1'000'000; time_us += kProcessIntervalUs) {
        for (const auto& subscriber : subscribers) subscriber->Run(feedback_us);
      }
    }
    share = (CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - began) / kSeconds;
  }
  state.counters["core_share"] = share;
  state.counters["us_p50"] = Quantile(feedback_us, 0.5);
  state.counters["us_p99"] = Quantile(feedback_us, 0.99);
  state.counters["resident_mb"] = ResidentMb();
}
BENCHMARK(MediasoupRoom)->Iterations(1);

}  // namespace
}  // namespace weir::mediasoup
