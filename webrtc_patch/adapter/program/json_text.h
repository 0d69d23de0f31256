// JSON as text: read strictly, written whatever the strings in it hold.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_TEXT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace weir {

// Throws InputError where the text is no JSON, is nested too deeply, or has an object with one key twice. `path` names
// the text in messages.
nlohmann::json ParseJson(std::string_view text, const std::string& path = {});

// As one line. Names of files and peers may hold any bytes: those that are no UTF-8 are replaced.
std::string JsonText(const nlohmann::ordered_json& value);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_TEXT_H_
