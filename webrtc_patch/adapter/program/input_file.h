// Files that a user names.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_FILE_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_FILE_H_

#include <cstddef>
#include <string>

namespace weir {

// Of a scenario or a model: far more than any real one has.
inline constexpr size_t kMaxInputFileBytes = size_t{64} << 20;

// Throws InputError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_FILE_H_
