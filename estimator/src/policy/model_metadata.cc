#include "policy/model_metadata.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace weir::internal {
namespace {

std::string Key(std::string_view key) { return "weir." + std::string(key); }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string Shown(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

}  // namespace

void ModelMetadata::Fail(std::string message) {
  if (!error_) error_ = Error{std::move(message)};
}

std::optional<std::string> ModelMetadata::Find(std::string_view key) const {
  const std::optional<std::string_view> value = model_.Metadata(Key(key));
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

std::string ModelMetadata::OptionalText(std::string_view key) const { return Find(key).value_or(std::string()); }

std::string ModelMetadata::Text(std::string_view key) {
  std::optional<std::string> text = Find(key);
  if (!text) Fail("its metadata has no '" + Key(key) + "'; export it again with `weir export`");
  return std::move(text).value_or(std::string());
}

double ModelMetadata::ParseNumber(std::string_view key, std::string_view text, double min, double max) {
  double value = 0;
  text = Trimmed(text);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = status == std::errc() && end == text.data() + text.size() && value >= min && value <= max;
  if (valid) return value;
  Fail("its metadata '" + Key(key) + "' is '" + std::string(text.substr(0, 64)) + "'; it must be a number from " +
       Shown(min) + " to " + Shown(max));
  return min;
}

double ModelMetadata::Number(std::string_view key, double min, double max) {
  const std::string text = Text(key);
  return error_ ? min : ParseNumber(key, text, min, max);
}

int64_t ModelMetadata::Integer(std::string_view key, int64_t min, int64_t max) {
  const double value = Number(key, static_cast<double>(min), static_cast<double>(max));
  if (value != std::floor(value))
    Fail("its metadata '" + Key(key) + "' is " + Shown(value) + "; it must be a whole number");
  return static_cast<int64_t>(value);
}

std::vector<std::string> ModelMetadata::TextList(std::string_view key) {
  const std::string text = Text(key);
  std::vector<std::string> list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    list.emplace_back(Trimmed(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return list;
}

std::vector<double> ModelMetadata::NumberList(std::string_view key, double min, double max) {
  std::vector<double> numbers;
  const std::vector<std::string> texts = TextList(key);
  if (error_) return numbers;
  for (const std::string& text : texts) numbers.push_back(ParseNumber(key, text, min, max));
  return numbers;
}

}  // namespace weir::internal
