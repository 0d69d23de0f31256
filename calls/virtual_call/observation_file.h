// The log of a call on which Weir runs beside libwebrtc's own controller.
#ifndef WEIR_CALLS_VIRTUAL_CALL_OBSERVATION_FILE_H_
#define WEIR_CALLS_VIRTUAL_CALL_OBSERVATION_FILE_H_

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "endpoints/flow.h"
#include "receive_side_switch.h"
#include "sender/observation.h"
#include "weir/units.h"

namespace weir::sim {

class ObservationFile {
 public:
  // Opens a file in the folder that the environment variable WEIR_OBSERVATIONS names; null without it, or if the flow
  // is not under test. Throws ProgramError if the file cannot be written.
  static std::unique_ptr<ObservationFile> Open(const Flow& flow);

  // Makes the controller of Weir beside one of libwebrtc: the shipped model, since such a call has no other.
  static ControllerFactory Observer();

  // Call before the others, with the time of the call's start on libwebrtc's clock.
  void Begin(Timestamp time);
  void Write(const Observation& observation);
  // `report`: the receiver's, an array of webrtc-stats objects.
  void WriteViewer(Timestamp time, const nlohmann::ordered_json& report);

 private:
  ObservationFile(std::string connection, std::string other, const std::string& path);

  const std::string connection_;
  const std::string other_;
  std::ofstream file_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_OBSERVATION_FILE_H_
