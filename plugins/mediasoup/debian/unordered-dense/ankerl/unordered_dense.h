// Stands in for ankerl::unordered_dense, which Debian 12 does not have, with the containers of the standard library.
#ifndef WEIR_PLUGINS_MEDIASOUP_DEBIAN_ANKERL_UNORDERED_DENSE_H_
#define WEIR_PLUGINS_MEDIASOUP_DEBIAN_ANKERL_UNORDERED_DENSE_H_

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace ankerl::unordered_dense {

template <class Key>
using hash = std::hash<Key>;
template <class Key, class Value, class Hash = std::hash<Key>>
using map = std::unordered_map<Key, Value, Hash>;
template <class Key, class Hash = std::hash<Key>>
using set = std::unordered_set<Key, Hash>;

}  // namespace ankerl::unordered_dense

#endif  // WEIR_PLUGINS_MEDIASOUP_DEBIAN_ANKERL_UNORDERED_DENSE_H_
