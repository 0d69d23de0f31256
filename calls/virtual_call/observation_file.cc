#include "virtual_call/observation_file.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "programs/input.h"
#include "shipped_model.h"
#include "virtual_call/peer_setup.h"
#include "weir/sender_controller.h"

namespace weir::sim {
namespace {

// The controller beside Weir in calls that Weir decides.
constexpr const char* kDefaultController = "gcc";

}  // namespace

std::unique_ptr<ObservationFile> ObservationFile::Open(const Flow& flow) {
  const std::string path = LogPath("WEIR_OBSERVATIONS", flow, ".observed.jsonl");
  if (path.empty()) return nullptr;
  const bool weir_decides = flow.controller.starts_with("weir");
  const std::string connection =
      flow.job.scenario.name + " " + std::to_string(flow.job.seed) + " " + std::to_string(flow.index);
  return std::unique_ptr<ObservationFile>(
      new ObservationFile(connection, weir_decides ? kDefaultController : flow.controller, path));
}

ControllerFactory ObservationFile::Observer() {
  return OrThrow(PolicyAlone(ShippedModel(), nullptr, kSentPacketFeatures));
}

ObservationFile::ObservationFile(std::string connection, std::string other, const std::string& path)
    : connection_(std::move(connection)), other_(std::move(other)), file_(path) {
  if (!file_) throw ProgramError(path + ": cannot be written", kFailed);
}

void ObservationFile::Begin(Timestamp time) {
  file_ << FirstLine(time, connection_, "weir-virtual-call", other_) << '\n';
}

void ObservationFile::Write(const Observation& observation) { file_ << ObservationLine(observation, other_) << '\n'; }

void ObservationFile::WriteViewer(Timestamp time, const nlohmann::ordered_json& report) {
  for (const nlohmann::ordered_json& entry : report) {
    if (entry["type"] != "inbound-rtp" || entry.value("kind", "") != "video") continue;
    const double frozen_s = entry.value("totalFreezesDuration", 0.0);
    file_ << ViewerLine(time, entry.value("freezeCount", int64_t{0}), TimeDelta::Micros(std::llround(1e6 * frozen_s)))
          << '\n';
  }
}

}  // namespace weir::sim
