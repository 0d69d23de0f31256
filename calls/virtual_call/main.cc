// weir-virtual-call: the simulator's commands, `run` and `serve` with libwebrtc's ends in simulated time.
#include "command/program.h"
#include "libwebrtc_globals.h"
#include "rtc_base/ssl_adapter.h"
#include "virtual_call/virtual_stack.h"

int main(int argc, char** argv) {
  weir::adapter::SilenceLibwebrtcLog();
  webrtc::InitializeSSL();
  return weir::sim::RunSimulatorProgram(
      argc, argv,
      {.name = "weir-virtual-call",
       .summary = "Simulates calls between two PeerConnections of libwebrtc over network paths, with every controller.",
       .make_stack = weir::sim::MakeVirtualStack});
}
