#include "connection_id.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>

namespace weir::observe {
namespace {

constexpr size_t kMaxBytes = 256;
constexpr std::array<std::string_view, 25> kSpaces = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
    "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
    "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

std::string_view Trimmed(std::string_view text) {
  const auto find = [&](auto matches) {
    const auto* const space = std::ranges::find_if(kSpaces, matches);
    return space == kSpaces.end() ? size_t{0} : space->size();
  };
  while (const size_t size = find([&](std::string_view space) { return text.starts_with(space); }))
    text.remove_prefix(size);
  while (const size_t size = find([&](std::string_view space) { return text.ends_with(space); }))
    text.remove_suffix(size);
  return text;
}

// The bytes of the character at the beginning of `text` (RFC 3629), 0 if there is none.
size_t CharacterSize(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if (byte(i) >> 6 != 2) return 0;
  // Encodings that are too long, surrogates, and code points above U+10FFFF.
  const bool is_wrong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f) ||
                        (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return is_wrong ? 0 : size;
}

std::string RandomId() {
  std::random_device random;
  return std::to_string(uint64_t{random()} << 32 | random());
}

}  // namespace

std::string NormalizedId(std::string_view id) {
  id = Trimmed(id).substr(0, kMaxBytes);
  std::string valid;
  bool is_in_run = false;
  while (!id.empty()) {
    const size_t size = CharacterSize(id);
    if (size > 0) valid += id.substr(0, size);
    if (size == 0 && !is_in_run) valid += '?';
    is_in_run = size == 0;
    id.remove_prefix(std::max<size_t>(size, 1));
  }
  return std::string(Trimmed(valid));
}

ConnectionId::ConnectionId(std::string_view id) : text(NormalizedId(id)) {
  if (text.empty()) text = RandomId();
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const uint8_t*>(text.data()), text.size(), digest.data());
  for (size_t i = 0; i < sizeof hash; ++i) hash = hash << 8 | digest[i];
}

double ConnectionId::share() const { return static_cast<double>(hash >> 11) / static_cast<double>(uint64_t{1} << 53); }

}  // namespace weir::observe
