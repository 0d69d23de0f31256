#include "program/input_file.h"

#include <fstream>
#include <vector>

#include "program/input_error.h"

namespace weir {

std::string ReadInputFile(const std::string& path, const char* what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(std::string("cannot read the ") + what + " " + path);
  std::string content;
  std::vector<char> chunk(size_t{1} << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    content.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (content.size() > kMaxInputFileBytes) {
      throw InputError(path + ": is larger than any " + what + ", over " + std::to_string(kMaxInputFileBytes >> 20) +
                       " MiB");
    }
  }
  // A folder opens and cannot be read.
  if (file.bad()) throw InputError(std::string("cannot read the ") + what + " " + path);
  return content;
}

}  // namespace weir
