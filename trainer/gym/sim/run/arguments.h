// The arguments of a command.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_ARGUMENTS_H_
#define WEIR_TRAINER_GYM_SIM_RUN_ARGUMENTS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::sim {

class Arguments {
 public:
  // `flags` are the options without a value, `options` those with one, each with its dashes. Throws InputError.
  Arguments(const std::vector<std::string>& arguments, std::initializer_list<std::string_view> flags,
            std::initializer_list<std::string_view> options);

  const std::vector<std::string>& positional() const { return positional_; }
  bool Has(const std::string& name) const { return values_.contains(name); }
  std::string Get(const std::string& name, const std::string& otherwise = "") const;
  // Throws InputError when it is missing or empty.
  std::string Require(const std::string& name) const;
  // Throws InputError when it is no whole number, or out of the bounds.
  uint64_t GetInteger(const std::string& name, uint64_t min, uint64_t max, uint64_t otherwise) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::string> values_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_ARGUMENTS_H_
