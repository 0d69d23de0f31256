// Tables whose rows have names, such as kObjectivePresets: look-up, and lists of names for messages.
#ifndef WEIR_NAMES_H_
#define WEIR_NAMES_H_

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace weir {

// The name of a row, or a plain name itself.
constexpr std::string_view NameOf(std::string_view name) { return name; }
template <class Row>
  requires requires(const Row& row) { row.name; }
constexpr std::string_view NameOf(const Row& row) {
  return row.name;
}

// Returns a pointer to the row with that name, or null if there is none. `rows` outlive it.
template <class Rows>
constexpr auto FindRow(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return NameOf(row) == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

// Returns "a, b and c", for messages and usage texts. `last` precedes the last name.
template <class Rows>
std::string ListNames(const Rows& rows, std::string_view last = ", ") {
  std::string text;
  for (auto row = std::begin(rows); row != std::end(rows); ++row) {
    if (row != std::begin(rows)) text += std::next(row) == std::end(rows) ? last : ", ";
    text += NameOf(*row);
  }
  return text;
}

}  // namespace weir

#endif  // WEIR_NAMES_H_
