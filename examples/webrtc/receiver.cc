// Weir at the receiver of a host's libwebrtc, with `make webrtc`'s: installs the factory, as a host does before its
// first call, and switches it as in a rollout.
//
//   receiver MODEL        for example /usr/share/weir/weir.onnx
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "receive_side_switch.h"

namespace {

// Shadow: libwebrtc decides, and Weir's decisions are logged only.
std::shared_ptr<weir::ReceiveSideSwitch> InstallWeir(std::span<const std::byte> model) {
  const auto policy = weir::PolicyAlone(model, weir::ProcessWorker());
  if (!policy) std::fprintf(stderr, "no model, the rule decides: %s\n", policy.error().c_str());
  const auto receive_side =
      weir::ReceiveSideSwitch::Create({.mode = weir::ReceiveSideMode::kShadow,
                                       .controller = policy ? policy.value() : weir::RuleAlone(),
                                       .on_decision = [](const weir::ReceiveSideDecision&) {}});
  if (!receive_side) return nullptr;
  receive_side.value()->Install();
  return receive_side.value();
}

}  // namespace

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
