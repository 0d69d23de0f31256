#include "endpoints/simulation_job.h"

#include "programs/json.h"

namespace weir::sim {
namespace {

CallMedia::Room ParseRoom(const nlohmann::json& value) {
  constexpr NumberRange kPublishers{.min = 0, .max = 16};
  JsonObject object(value, "call.room");
  CallMedia::Room room;
  room.cameras = static_cast<int>(object.Integer("cameras", kPublishers, room.cameras));
  room.screens = static_cast<int>(object.Integer("screens", kPublishers, room.screens));
  if (object.FindOptional("allocation"))
    room.allocation =
        static_cast<CallMedia::Room::Allocation>(object.Choice("allocation", {"weir", "mediasoup", "livekit"}));
  object.RefuseUnknownKeys();
  if (room.publishers() == 0) RefuseJson("call.room", "needs a camera or a screen");
  return room;
}

CallMedia ParseCallMedia(const nlohmann::json& value) {
  constexpr NumberRange kPixels{.min = 2, .max = 4096};
  JsonObject object(value, "call");
  CallMedia media;
  if (object.FindOptional("encoder"))
    media.encoder = static_cast<CallMedia::Encoder>(object.Choice("encoder", {"VP8", "VP9", "fake"}));
  media.width = static_cast<int>(object.Integer("width", kPixels, media.width));
  media.height = static_cast<int>(object.Integer("height", kPixels, media.height));
  if (media.width % 2 != 0 || media.height % 2 != 0) RefuseJson("call", "width and height must be even");
  if (const nlohmann::json* video = object.FindOptional("video")) media.video = JsonString(*video, "call.video");
  if (const nlohmann::json* received = object.FindOptional("received"))
    media.received = JsonString(*received, "call.received");
  if (const nlohmann::json* speech = object.FindOptional("speech")) media.speech = JsonString(*speech, "call.speech");
  if (!media.received.empty() && media.encoder == CallMedia::Encoder::kFake)
    RefuseJson("call.received", "needs a real encoder: frames of the fake one have no pictures");
  media.native_sender = object.FindOptional("sender") && object.Choice("sender", {"chromium", "native"}) == 1;
  if (object.FindOptional("repair"))
    media.repair = static_cast<CallMedia::Repair>(object.Choice("repair", {"adaptive", "nack", "fec"}));
  if (object.FindOptional("playout"))
    media.playout = static_cast<CallMedia::Playout>(object.Choice("playout", {"adaptive", "limited", "unlimited"}));
  if (const nlohmann::json* room = object.FindOptional("room")) media.room = ParseRoom(*room);
  object.RefuseUnknownKeys();
  return media;
}

}  // namespace

SimulationJob ParseJob(JsonObject& request) {
  SimulationJob job;
  job.scenario = ParseScenario(request.Require("scenario"));
  if (const nlohmann::json* objective = request.FindOptional("objective"))
    job.objective = ParseObjective(*objective, "objective");
  job.seed = static_cast<uint64_t>(request.Integer("seed", {.min = 0, .max = 9.2e18}, 1));
  job.decision_delay = ParseDecisionDelay(request);
  if (const nlohmann::json* call = request.FindOptional("call")) job.call = ParseCallMedia(*call);
  return job;
}

}  // namespace weir::sim
