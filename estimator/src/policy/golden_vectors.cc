#include <cmath>
#include <cstddef>
#include <string>

#include "policy/model_checks.h"
#include "policy/parse_double.h"

namespace weir::internal {
namespace {

constexpr size_t kMaxVectors = 64;
constexpr size_t kMaxNumbers = 65536;

// Reads the JSON of golden vectors, of a fixed structure. The first deviation ends it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Read(std::vector<GoldenVector>& vectors) {
    if (!Expect('[')) return false;
    do {
      if (vectors.size() == kMaxVectors) return Fail("more than 64 vectors");
      if (!ReadVector(vectors.emplace_back())) return false;
    } while (Accept(','));
    if (!Expect(']')) return false;
    SkipSpace();
    return position_ == text_.size() || Fail("text after the list");
  }
  Error error() const { return Error{error_ + " at character " + std::to_string(position_)}; }

 private:
  bool ReadVector(GoldenVector& vector) {
    if (!Expect('{')) return false;
    do {
      std::string_view key;
      if (!ReadKey(key)) return false;
      std::vector<float>* numbers = Member(vector, key);
      if (numbers == nullptr) return Fail("unknown key");
      if (!numbers->empty()) return Fail("the same key twice");
      if (!ReadNumbers(*numbers)) return false;
    } while (Accept(','));
    if (!Expect('}')) return false;
    return (!vector.observation.empty() && !vector.action.empty()) || Fail("a vector needs 'observation' and 'action'");
  }

  static std::vector<float>* Member(GoldenVector& vector, std::string_view key) {
    if (key == "observation") return &vector.observation;
    if (key == "objective") return &vector.objective;
    if (key == "state") return &vector.state;
    if (key == "action") return &vector.action;
    if (key == "next_state") return &vector.next_state;
    return nullptr;
  }

  bool ReadKey(std::string_view& key) {
    if (!Expect('"')) return false;
    const size_t end = text_.find('"', position_);
    if (end == std::string_view::npos) return Fail("a string without an end");
    key = text_.substr(position_, end - position_);
    position_ = end + 1;
    return Expect(':');
  }

  bool ReadNumbers(std::vector<float>& numbers) {
    if (!Expect('[')) return false;
    if (Accept(']')) return true;
    do {
      SkipSpace();
      double value = 0;
      const auto [end, status] = ParseDouble(text_.data() + position_, text_.data() + text_.size(), value);
      if (status != std::errc() || !std::isfinite(static_cast<float>(value))) return Fail("expected a finite number");
      position_ = static_cast<size_t>(end - text_.data());
      if (numbers.size() == kMaxNumbers) return Fail("more than 65536 numbers");
      numbers.push_back(static_cast<float>(value));
    } while (Accept(','));
    return Expect(']');
  }

  void SkipSpace() {
    while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool Accept(char wanted) {
    SkipSpace();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }
  bool Expect(char wanted) { return Accept(wanted) || Fail(std::string("expected '") + wanted + "'"); }
  bool Fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return false;
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string error_;
};

}  // namespace

Result<std::vector<GoldenVector>> ParseGoldenVectors(std::string_view json) {
  std::vector<GoldenVector> vectors;
  Reader reader(json);
  if (!reader.Read(vectors)) return reader.error();
  return vectors;
}

bool MatchesGolden(float value, float golden) { return std::fabs(value - golden) <= 1e-4f + 1e-4f * std::fabs(golden); }

}  // namespace weir::internal
