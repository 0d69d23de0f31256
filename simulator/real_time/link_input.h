// The inputs of `weir-sim link`: packets of two devices, lines of standard input, signals. A thread waits for them and
// passes them to that of ns-3's RealtimeSimulatorImpl, which accepts events from other threads.
#ifndef WEIR_SIMULATOR_REAL_TIME_LINK_INPUT_H_
#define WEIR_SIMULATOR_REAL_TIME_LINK_INPUT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "programs/file_descriptor.h"
#include "programs/json_lines.h"
#include "tun.h"

namespace weir::sim {

struct LinkInputConfig {
  // Packets read from `tun_fds[i]`, which are nonblocking, are sent on `flows[i]`.
  std::array<int, 2> tun_fds{-1, -1};
  std::array<TunFlow*, 2> flows{};
  int command_fd = -1;
  // A descriptor from signalfd.
  int signal_fd = -1;
  // Both are called in the simulator's thread, as events.
  std::function<void(std::string_view line)> on_line;
  // The last call. `reason` is that of an orderly end or, with `failed`, the error.
  std::function<void(const std::string& reason, bool failed)> on_end;
};

class LinkInput {
 public:
  // A longer line is refused as a whole.
  static constexpr size_t kMaxLineBytes = size_t{1} << 16;
  // Limits of packets of one device, and of lines, that wait for the simulator.
  static constexpr int kMaxWaitingPackets = 4096;
  static constexpr int kMaxWaitingLines = 64;

  // Starts at once; the simulator must be running. Everything that `config` refers to must outlive this object.
  explicit LinkInput(LinkInputConfig config);
  // Waits for the thread. Call when the simulator has stopped.
  ~LinkInput();
  LinkInput(const LinkInput&) = delete;
  LinkInput& operator=(const LinkInput&) = delete;

 private:
  void Run();
  // False if the thread must end.
  bool ReadPackets(size_t index);
  bool ReadCommands();
  void ReadSignal();
  void HandLine(std::string line);
  void End(std::string reason, bool failed);

  const LinkInputConfig config_;
  const FileDescriptor wake_;
  std::vector<uint8_t> packet_;
  LineBuffer lines_{kMaxLineBytes};
  std::array<std::atomic<int>, 2> waiting_packets_{};
  std::atomic<int> waiting_lines_ = 0;
  std::thread thread_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_LINK_INPUT_H_
