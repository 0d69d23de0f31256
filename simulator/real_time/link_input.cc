#include "link_input.h"

#include <ns3/simulator.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "programs/monotonic_clock.h"

namespace weir::sim {
namespace {

// Larger than any packet of a device with the simulator's MTU, so that oversized packets are detected.
constexpr size_t kReadBytes = 4096;
// Packets read from one device before the other inputs have their turn.
constexpr int kPacketsAtOnce = 64;
// The interval at which standard input is checked while too many lines wait.
constexpr int kPauseMs = 10;
constexpr std::array<const char*, 2> kEndNames{"the left", "the right"};

// Makes the simulator's thread call `function` at its current time.
template <class Function>
void Hand(Function function) {
  ns3::Simulator::ScheduleWithContext(ns3::Simulator::NO_CONTEXT, ns3::TimeStep(0), std::move(function));
}

}  // namespace

LinkInput::LinkInput(LinkInputConfig config)
    : config_(std::move(config)), wake_(eventfd(0, EFD_CLOEXEC)), packet_(kReadBytes), thread_([this] { Run(); }) {}

LinkInput::~LinkInput() {
  const uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

void LinkInput::Run() {
  std::array<pollfd, 5> polled{};
  const std::array<int, 5> fds{config_.tun_fds[0], config_.tun_fds[1], config_.command_fd, config_.signal_fd,
                               wake_.get()};
  while (true) {
    const bool take_lines = waiting_lines_ < kMaxWaitingLines;
    for (size_t i = 0; i < polled.size(); ++i) polled[i] = {.fd = fds[i], .events = POLLIN, .revents = 0};
    if (!take_lines) polled[2].fd = -1;
    if (poll(polled.data(), polled.size(), take_lines ? -1 : kPauseMs) < 0) {
      if (errno == EINTR) continue;
      return End(std::string("poll: ") + std::strerror(errno), true);
    }
    if (polled[4].revents) return;
    if (polled[3].revents) return ReadSignal();
    if (polled[2].revents && !ReadCommands()) return End("end of input", false);
    for (const size_t i : {0, 1}) {
      if (polled[i].revents && !ReadPackets(i)) return;
      if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) {
        return End(std::string(kEndNames[i]) + " device is gone", true);
      }
    }
  }
}

bool LinkInput::ReadPackets(size_t index) {
  for (int i = 0; i < kPacketsAtOnce; ++i) {
    const ssize_t count = read(config_.tun_fds[index], packet_.data(), packet_.size());
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) return true;
      End(std::string(kEndNames[index]) + " device: " + std::strerror(errno), true);
      return false;
    }
    TunFlow* const flow = config_.flows[index];
    if (waiting_packets_[index] >= kMaxWaitingPackets) {
      flow->CountRefused();
      continue;
    }
    ++waiting_packets_[index];
    Hand([this, index, flow, read_ns = MonotonicNs(),
          packet = std::vector<uint8_t>(packet_.begin(), packet_.begin() + count)] {
      --waiting_packets_[index];
      flow->Send(packet, read_ns);
    });
  }
  return true;
}

bool LinkInput::ReadCommands() {
  char text[4096];
  const ssize_t count = read(config_.command_fd, text, sizeof(text));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  lines_.Append({text, static_cast<size_t>(count)});
  std::string line;
  while (true) {
    const LineBuffer::Next next = lines_.Take(line);
    if (next == LineBuffer::Next::kNothing) return true;
    if (next == LineBuffer::Next::kTooLong) line = "(a line that is too long)";
    if (!line.empty()) HandLine(line);
  }
}

void LinkInput::HandLine(std::string line) {
  ++waiting_lines_;
  Hand([this, line = std::move(line)] {
    --waiting_lines_;
    config_.on_line(line);
  });
}

void LinkInput::ReadSignal() {
  signalfd_siginfo signal{};
  const bool read_it = read(config_.signal_fd, &signal, sizeof(signal)) == sizeof(signal);
  const char* name = read_it ? sigabbrev_np(static_cast<int>(signal.ssi_signo)) : nullptr;
  End(name ? std::string("SIG") + name : "a signal", false);
}

void LinkInput::End(std::string reason, bool failed) {
  Hand([this, reason = std::move(reason), failed] { config_.on_end(reason, failed); });
}

}  // namespace weir::sim
