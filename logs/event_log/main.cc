// weir-event-log: prints an RTC event log as JSON lines.
#include <csignal>
#include <iostream>
#include <string>

#include "event_log_lines.h"
#include "libwebrtc_globals.h"
#include "programs/command_line.h"
#include "programs/input.h"
#include "programs/json.h"

namespace weir {
namespace {

int Run(const std::string& path) {
  LimitMemory();
  adapter::SilenceLibwebrtcLog();
  try {
    WriteEventLogLines(ReadInputFile(path, "RTC event log"),
                       [](const nlohmann::ordered_json& line) { std::cout << JsonText(line) << '\n'; });
  } catch (const ProgramError& error) {
    const std::string message = error.what();
    throw ProgramError(message.find(path) == std::string::npos ? path + ": " + message : message, error.status());
  }
  std::cout.flush();
  return std::cout ? kDone : kFailed;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  CLI::App app(
      "Prints an RTC event log (chrome://webrtc-internals, or PeerConnection::StartRtcEventLog) as JSON lines.",
      "weir-event-log");
  app.set_help_flag("-h,--help", "print this and exit");
  app.footer("\nexit status: 0 done, 1 failed, 2 wrong use or input");
  std::string path;
  app.add_option("LOG", path, "at most 64 MiB")->type_name("")->required();
  return RunProgram(app, argc, argv, [&path] { return Run(path); });
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
