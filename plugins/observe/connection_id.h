// The identifier of a connection, and its place among all identifiers.
#ifndef WEIR_PLUGINS_OBSERVE_CONNECTION_ID_H_
#define WEIR_PLUGINS_OBSERVE_CONNECTION_ID_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::observe {

// Returns valid UTF-8 of at most 256 bytes (runs of other bytes become a question mark, which may make it longer),
// without spaces at its ends. The hosts in Go do the same (plugins/pion/observe).
std::string NormalizedId(std::string_view id);

struct ConnectionId {
  // `id` is untrusted. A random identifier replaces one that is empty.
  explicit ConnectionId(std::string_view id);

  // From 0 to below 1, uniform over identifiers: Weir is in charge of the connections whose share is below the share in
  // charge.
  double share() const;

  std::string text;   // normalized
  uint64_t hash = 0;  // the first 64 bits of the SHA-256 of `text`
};

}  // namespace weir::observe

#endif  // WEIR_PLUGINS_OBSERVE_CONNECTION_ID_H_
