// A controller that is a shared library with the entry point of weir_controller.h.
#ifndef WEIR_PROGRAM_LIBRARY_DECISION_MAKER_H_
#define WEIR_PROGRAM_LIBRARY_DECISION_MAKER_H_

#include <memory>
#include <optional>
#include <string>

#include "program/decision_maker.h"

namespace weir::external {

class LibraryDecisionMaker final : public DecisionMaker {
 public:
  // Loads the library, which stays loaded for good. With `watch`, a call into it that lasts longer than the limit ends
  // this process with a message that begins with `about`: it cannot be stopped otherwise.
  static Result<std::unique_ptr<DecisionMaker>> Start(const std::string& path, const std::string& about,
                                                      const weir_controller_start& start, TimeDelta decision_limit,
                                                      bool watch);
  ~LibraryDecisionMaker() override;
  LibraryDecisionMaker(const LibraryDecisionMaker&) = delete;
  LibraryDecisionMaker& operator=(const LibraryDecisionMaker&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override;
  TimeDelta interval() const override { return interval_; }

 private:
  LibraryDecisionMaker(const weir_controller* functions, std::string about, std::optional<TimeDelta> watch_limit);

  const weir_controller* const functions_;
  const std::string about_;
  // Nothing: nobody watches.
  const std::optional<TimeDelta> watch_limit_;
  TimeDelta interval_ = kDefaultInterval;
  void* state_ = nullptr;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAM_LIBRARY_DECISION_MAKER_H_
