#include "weir/pool_specification.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "weir/names.h"

namespace weir {
namespace {

constexpr int64_t kMaxTargetBps = 1'000'000'000'000;

constexpr bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}
// ASCII, printable, no space.
constexpr bool IsVisible(char c) { return c > ' ' && c <= '~'; }

// User input, shortened and made safe to print.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, 40));
  std::ranges::replace_if(shown, [](char c) { return !IsVisible(c); }, '?');
  if (text.size() > 40) shown.append("...");
  return shown.insert(0, 1, '"').append(1, '"');
}

class PoolParser {
 public:
  explicit PoolParser(std::string_view line) : line_(line) {}

  Result<PoolSpecification> Parse() {
    if (line_.size() > kMaxPoolLineBytes) return Error{"a pool has at most 1024 characters"};
    for (size_t at = 0; at < line_.size() && !error_;) {
      if (line_[at] == ' ') {
        ++at;
        continue;
      }
      const std::string_view part = line_.substr(at, line_.find(' ', at) - at);
      ReadPart(part);
      at += part.size();
    }
    if (!error_ && pool_.pilot.empty()) Refuse(line_.substr(line_.size()), "pilot=MEMBER is missing");
    if (!error_) CheckCopilots();
    if (error_) return *error_;
    return pool_;
  }

 private:
  static constexpr std::array<std::string_view, 4> kKeys{"pilot", "copilots", "fusion", "policy"};

  // `where` must be a part of the line. Keeps only the first error.
  void Refuse(std::string_view where, const std::string& what) {
    if (error_) return;
    error_ = Error{"pool, character " + std::to_string(where.data() - line_.data() + 1) + ": " + what};
  }

  void ReadPart(std::string_view part) {
    const size_t equals = part.find('=');
    const auto key = std::ranges::find(kKeys, part.substr(0, equals));
    if (equals == std::string_view::npos || key == kKeys.end())
      return Refuse(part, Shown(part) + " is not known; use pilot=, copilots=, fusion= or policy=");
    bool& is_there = is_there_[static_cast<size_t>(key - kKeys.begin())];
    if (is_there) return Refuse(part, std::string(*key) + " is there twice");
    is_there = true;
    const std::string_view value = part.substr(equals + 1);
    if (*key == "pilot") pool_.pilot = ReadMember(value);
    if (*key == "copilots") ReadCopilots(value);
    if (*key == "fusion") ReadFusion(value);
    if (*key == "policy") pool_.policy = static_cast<PilotPolicyKind>(ReadChoice(value, kPilotPolicyNames));
  }

  std::string ReadMember(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    if (name.empty() || !std::ranges::all_of(name, IsNameCharacter)) Refuse(text, Shown(text) + " is no member's name");
    const bool has_detail = colon != std::string_view::npos;
    const std::string_view detail = has_detail ? text.substr(colon + 1) : std::string_view();
    if (has_detail && (detail.empty() || !std::ranges::all_of(detail, IsVisible) || detail.find(',') != detail.npos))
      Refuse(text.substr(colon), "after \":\" printable ASCII without spaces and commas is needed");
    return std::string(text);
  }

  void ReadCopilots(std::string_view text) {
    copilots_ = text;
    for (size_t at = 0; at <= text.size() && !error_;) {
      const std::string_view member = text.substr(at, text.find(',', at) - at);
      if (pool_.copilots.size() == kMaxCopilots) return Refuse(text.substr(at), "there are at most 7 copilots");
      pool_.copilots.push_back(ReadMember(member));
      at += member.size() + 1;
    }
  }

  // Called after the whole line is read, since the pilot may be anywhere in it.
  void CheckCopilots() {
    std::string_view rest = copilots_;
    for (size_t i = 0; i < pool_.copilots.size(); ++i) {
      const std::string& member = pool_.copilots[i];
      const auto earlier = pool_.copilots.begin() + static_cast<std::ptrdiff_t>(i);
      if (member == pool_.pilot || std::find(pool_.copilots.begin(), earlier, member) != earlier)
        return Refuse(rest, Shown(member) + " is in the pool twice");
      rest.remove_prefix(std::min(member.size() + 1, rest.size()));
    }
  }

  void ReadFusion(std::string_view text) {
    const size_t colon = text.find(':');
    pool_.fusion = static_cast<FusionKind>(ReadChoice(text.substr(0, colon), kFusionNames));
    const bool has_target = colon != std::string_view::npos;
    if (has_target != (pool_.fusion == FusionKind::kClosest))
      return Refuse(text, "closest, and only closest, has a rate: closest:1000000 for 1 Mbit/s");
    if (!has_target) return;
    const std::string_view digits = text.substr(colon + 1);
    int64_t bps = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), bps);
    if (fault != std::errc() || end != digits.data() + digits.size() || bps < 1 || bps > kMaxTargetBps)
      return Refuse(digits, Shown(digits) + " is no rate; whole bit/s from 1 to 1000000000000");
    pool_.fusion_target = DataRate::BitsPerSecond(bps);
  }

  template <class Names>
  size_t ReadChoice(std::string_view text, const Names& names) {
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    Refuse(text, Shown(text) + " is not known; use " + ListNames(names, " or "));
    return 0;
  }

  const std::string_view line_;
  PoolSpecification pool_;
  std::string_view copilots_;
  std::array<bool, 4> is_there_{};
  std::optional<Error> error_;
};

}  // namespace

Result<PoolSpecification> ParsePool(std::string_view line) { return PoolParser(line).Parse(); }

std::string ToString(const PoolSpecification& pool) {
  std::string text = "pilot=" + pool.pilot;
  for (size_t i = 0; i < pool.copilots.size(); ++i) {
    text += i == 0 ? " copilots=" : ",";
    text += pool.copilots[i];
  }
  if (pool.fusion != FusionKind::kPilotOnly) text.append(" fusion=").append(ToString(pool.fusion));
  if (pool.fusion == FusionKind::kClosest) text.append(":").append(std::to_string(pool.fusion_target.bps()));
  if (pool.policy != PilotPolicyKind::kFixed) text.append(" policy=").append(ToString(pool.policy));
  return text;
}

}  // namespace weir
