#include "library_decision_maker.h"

#include <dlfcn.h>

#include <utility>

#include "call_watchdog.h"

namespace weir::external {
namespace {

constexpr char kEntry[] = "weir_controller_entry";

Result<const weir_controller*> Functions(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Error{std::string("it cannot be loaded: ") + dlerror()};
  const auto entry = reinterpret_cast<weir_controller_entry_function>(dlsym(library, kEntry));
  if (!entry) return Error{std::string("it exports no function ") + kEntry + "; see weir_controller.h"};
  const weir_controller* const functions = entry();
  if (!functions) return Error{std::string(kEntry) + " gives NULL"};
  if (functions->version != WEIR_CONTROLLER_VERSION) {
    return Error{"it was built with version " + std::to_string(functions->version) +
                 " of weir_controller.h; this is version " + std::to_string(WEIR_CONTROLLER_VERSION) +
                 ": build it again"};
  }
  if (!functions->create || !functions->decide || !functions->destroy)
    return Error{std::string(kEntry) + " leaves create, decide or destroy NULL"};
  return functions;
}

// Null where nobody watches.
std::unique_ptr<WatchedCall> Watched(const std::string& about, std::optional<TimeDelta> limit) {
  return limit ? std::make_unique<WatchedCall>(about, *limit) : nullptr;
}

}  // namespace

Result<std::unique_ptr<DecisionMaker>> LibraryDecisionMaker::Start(const std::string& path, const std::string& about,
                                                                   const weir_controller_start& start,
                                                                   TimeDelta decision_limit, bool watch) {
  const auto watch_limit = watch ? std::optional(decision_limit) : std::nullopt;
  const auto watched = Watched(about, watch ? std::optional(decision_limit * kStartLimitFactor) : std::nullopt);
  const auto functions = Functions(path);
  if (!functions) return Error{functions.error()};
  std::unique_ptr<LibraryDecisionMaker> maker(new LibraryDecisionMaker(functions.value(), about, watch_limit));
  const auto interval = CheckedInterval(static_cast<double>(functions.value()->interval_us));
  if (!interval) return Error{interval.error()};
  maker->interval_ = interval.value();
  maker->state_ = functions.value()->create(&start);
  if (!maker->state_) return Error{"create() gives NULL"};
  return std::unique_ptr<DecisionMaker>(std::move(maker));
}

LibraryDecisionMaker::LibraryDecisionMaker(const weir_controller* functions, std::string about,
                                           std::optional<TimeDelta> watch_limit)
    : functions_(functions), about_(std::move(about)), watch_limit_(watch_limit) {}

LibraryDecisionMaker::~LibraryDecisionMaker() {
  if (!state_) return;
  const auto watched = Watched(about_, watch_limit_);
  functions_->destroy(state_);
}

Result<DataRate> LibraryDecisionMaker::Decide(const weir_controller_interval& interval) {
  const auto watched = Watched(about_, watch_limit_);
  return CheckedTarget(functions_->decide(state_, &interval));
}

}  // namespace weir::external
