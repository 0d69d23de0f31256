// What the tables of this folder and whatever follows them have in common: rows with a name.
#ifndef WEIR_REGISTRY_NAMES_H_
#define WEIR_REGISTRY_NAMES_H_

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace weir {

// Of a row of a table, or of a plain name.
constexpr std::string_view NameOf(std::string_view name) { return name; }
template <class Row>
  requires requires(const Row& row) { row.name; }
constexpr std::string_view NameOf(const Row& row) {
  return row.name;
}

// Null when no row has the name.
template <class Rows>
constexpr auto FindRow(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  const auto found = std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

// Whether two tables have the same names, in whatever order: for a static_assert beside a table of factories.
template <class Rows, class OtherRows>
constexpr bool HaveSameNames(const Rows& rows, const OtherRows& others) {
  const auto has = [](const auto& table, std::string_view name) {
    return std::any_of(std::begin(table), std::end(table), [&](const auto& row) { return NameOf(row) == name; });
  };
  return std::all_of(std::begin(rows), std::end(rows), [&](const auto& row) { return has(others, NameOf(row)); }) &&
         std::all_of(std::begin(others), std::end(others), [&](const auto& row) { return has(rows, NameOf(row)); });
}

// "a, b and c", for messages and usage texts; `last` stands before the last name.
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

#endif  // WEIR_REGISTRY_NAMES_H_
