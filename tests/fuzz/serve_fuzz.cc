#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "fuzz_targets.h"
#include "programs/input.h"
#include "programs/json.h"
#include "serve/frame_channel.h"
#include "serve/serve_request.h"
#include "whole_scenario.h"

namespace weir::fuzz {
namespace {

// Data from the client of `weir-sim serve`.
class FuzzStream {
 public:
  explicit FuzzStream(std::span<const uint8_t> bytes) : fd_(memfd_create("frames", 0)) {
    WEIR_FUZZ_CHECK(fd_ >= 0);
    WEIR_FUZZ_CHECK(write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    WEIR_FUZZ_CHECK(lseek(fd_, 0, SEEK_SET) == 0);
  }
  ~FuzzStream() { close(fd_); }
  FuzzStream(const FuzzStream&) = delete;
  FuzzStream& operator=(const FuzzStream&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

void CheckWholeRequest(std::string_view text) {
  try {
    const sim::ServeRequest request = sim::ParseServeRequest(text);
    WEIR_FUZZ_CHECK(request.agent.interval > TimeDelta::Zero());
    WEIR_FUZZ_CHECK(request.agent.features.size() > 0);
    WEIR_FUZZ_CHECK(request.agent.action.min_rate > DataRate::Zero());
    WEIR_FUZZ_CHECK(request.agent.action.max_rate >= request.agent.action.min_rate);
    WEIR_FUZZ_CHECK(AgentFlowIndex(request.job.scenario) < request.job.scenario.flows.size());
  } catch (const ProgramError& error) {
    WEIR_FUZZ_CHECK(!std::string_view(error.what()).empty());
  }
}

void CheckRequest(std::string_view text) {
  try {
    // Few inputs have a whole scenario, and those that do not end at its first missing key.
    nlohmann::json document = ParseJson(text);
    if (document.is_object() && document.contains("scenario")) {
      document["scenario"] = sim::WholeScenario(document["scenario"]);
      CheckWholeRequest(JsonText(document));
    }
  } catch (const ProgramError& error) {
    WEIR_FUZZ_CHECK(!std::string_view(error.what()).empty());
  }
  CheckWholeRequest(text);
}

}  // namespace

void FuzzServe(std::span<const uint8_t> bytes) {
  const FuzzStream stream(bytes);
  FrameChannel channel(stream.fd(), -1);
  size_t size = 0;
  while (const std::optional<Frame> frame = channel.Read()) {
    size += 5 + frame->payload.size();
    if (frame->type == 'R') CheckRequest(frame->payload);
  }
  // A partial frame breaks the channel.
  WEIR_FUZZ_CHECK(channel.broken() == (size < bytes.size()));
}

}  // namespace weir::fuzz
