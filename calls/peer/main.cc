// weir-peer: one end of a WebRTC call, without a screen. See `weir-peer --help`.
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>

#include "libwebrtc_globals.h"
#include "options.h"
#include "programs/command_line.h"
#include "programs/json.h"
#include "rtc_base/ssl_adapter.h"
#include "session.h"
#include "weir/controllers.h"

namespace weir::peer {
namespace {

// Readable when the process is to end.
int wake_fd = -1;

void Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd, &one, sizeof one);
}

extern "C" void OnSignal(int) { Wake(); }

nlohmann::ordered_json Versions() {
  return {{"weir", WEIR_VERSION}, {"libwebrtc", WEIR_LIBWEBRTC_VERSION}, {"onnxruntime", OnnxRuntimeVersion()}};
}

int Run(const Options& options) {
  wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) throw ProgramError("no event descriptor", kFailed);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  adapter::SilenceLibwebrtcLog();
  webrtc::InitializeSSL();
  const int status = Session(options, Versions(), wake_fd, Wake).Run();
  webrtc::CleanupSSL();
  return status;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "One end of a WebRTC call, without a screen. Signalling, statistics and estimates are JSON\n"
      "lines on standard input and output; logs go to standard error.",
      "weir-peer");
  app.option_defaults()->take_last();
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", [] { return JsonText(Versions()); }, "versions of its parts, as JSON");
  app.footer("\nexit status: 0 stopped by a command, 1 failed, 2 wrong use, 3 a component is missing");
  Options options;
  AddOptions(app, options);
  return RunProgram(app, argc, argv, [&options] { return Run(options); });
}

}  // namespace
}  // namespace weir::peer

int main(int argc, char** argv) { return weir::peer::Main(argc, argv); }
