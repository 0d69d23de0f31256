#include "endpoints/simulation_job.h"
#include "program/json.h"

namespace weir::sim {

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
  media.native_sender = object.FindOptional("sender") && object.Choice("sender", {"chromium", "native"}) == 1;
  object.RefuseUnknownKeys();
  return media;
}

}  // namespace weir::sim
