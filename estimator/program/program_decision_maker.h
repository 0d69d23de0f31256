// A controller that is a program: JSON lines, a question each, an answer each. docs/write_your_own_controller.md has
// the lines.
#ifndef WEIR_PROGRAM_PROGRAM_DECISION_MAKER_H_
#define WEIR_PROGRAM_PROGRAM_DECISION_MAKER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "program/decision_maker.h"
#include "program/line_process.h"

namespace weir::external {

class ProgramDecisionMaker final : public DecisionMaker {
 public:
  // Takes the process when all is over, if it is well: it can begin anew.
  using TakeBack = std::function<void(std::unique_ptr<LineProcess>)>;

  // Tells `process` to begin anew. The error is a sentence about the program.
  static Result<std::unique_ptr<DecisionMaker>> Start(std::unique_ptr<LineProcess> process,
                                                      const weir_controller_start& start, TimeDelta decision_limit,
                                                      TakeBack take_back);
  ~ProgramDecisionMaker() override;
  ProgramDecisionMaker(const ProgramDecisionMaker&) = delete;
  ProgramDecisionMaker& operator=(const ProgramDecisionMaker&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override;
  TimeDelta interval() const override { return interval_; }

 private:
  ProgramDecisionMaker(std::unique_ptr<LineProcess> process, TimeDelta decision_limit, TakeBack take_back);
  // The number of that name in the answer; `otherwise` where it may be missing.
  Result<double> Number(std::string_view answer, const char* name, const double* otherwise = nullptr) const;
  Error Failed(std::string what);

  std::unique_ptr<LineProcess> process_;
  const TimeDelta decision_limit_;
  const TakeBack take_back_;
  TimeDelta interval_ = kDefaultInterval;
  bool well_ = true;
  std::string question_;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAM_PROGRAM_DECISION_MAKER_H_
