// Weir at the receiver of a host's own libwebrtc: installs the factory, as a host does before its first call, in mode
// shadow, and switches to Weir. With the libwebrtc of `make webrtc`:
//
//   cmake -S examples/webrtc -B build/webrtc -DWEIR_LIBWEBRTC=build/libwebrtc && cmake --build build/webrtc
//   build/webrtc/receiver MODEL       for example /usr/share/weir/weir.onnx
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "receive_side_switch.h"

// README
// `model`: the bytes of weir.onnx. The result switches mode and objective from any thread, also during calls.
std::shared_ptr<weir::ReceiveSideSwitch> InstallWeir(std::span<const std::byte> model) {
  const auto policy = weir::PolicyAlone(model, weir::ProcessWorker());
  if (!policy) std::fprintf(stderr, "no model, the rule decides: %s\n", policy.error().c_str());
  const auto receive_side = weir::ReceiveSideSwitch::Create(
      {.mode = weir::ReceiveSideMode::kShadow, .controller = policy ? policy.value() : weir::RuleAlone()});
  if (!receive_side) return nullptr;  // receive_side.error() names the invalid part of the configuration
  receive_side.value()->Install();
  return receive_side.value();
}
// README

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: receiver MODEL\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto receive_side = InstallWeir(std::as_bytes(std::span(bytes)));
  if (receive_side == nullptr) return 1;
  receive_side->SetMode(weir::ReceiveSideMode::kWeir);  // from any thread, also during calls
  std::printf("%s decides\n", std::string(weir::ToString(receive_side->mode())).c_str());
  weir::ReceiveSideSwitch::Uninstall();
  return 0;
}
