// A child process that answers each line on its standard input with one line on its standard output. Whatever it does,
// asking it takes no longer than its time limit, and it leaves neither a zombie nor itself behind.
#ifndef WEIR_PROGRAMS_LINE_PROCESS_H_
#define WEIR_PROGRAMS_LINE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/file_descriptor.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

class LineProcess {
 public:
  static constexpr size_t kLongestLine = 1 << 16;

  // `command`: the program's path, or its name on PATH, and its arguments. The error when it cannot be started.
  static Result<std::unique_ptr<LineProcess>> Start(const std::vector<std::string>& command);
  // Closes its standard input, and kills it when it does not end by that.
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // `line` with its end. The answer comes without, and is valid until the next call. After an error, which holds what
  // the process said on standard error, the process has ended.
  Result<std::string_view> Ask(std::string_view line, TimeDelta limit);

 private:
  LineProcess(pid_t process, FileDescriptor in, FileDescriptor out, FileDescriptor err)
      : process_(process), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}

  // One step of talking, until `deadline_ms` at the latest; the error when there can be no more.
  Result<bool> Transfer(std::string_view& unsent, int64_t deadline_ms);
  bool ReadAnswer();
  void ReadStandardError();
  Error Fail(std::string what);
  void End(bool at_once);

  const pid_t process_;
  bool running_ = true;
  int wait_status_ = 0;
  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor err_;
  std::string answer_;
  std::string said_;
};

}  // namespace weir

#endif  // WEIR_PROGRAMS_LINE_PROCESS_H_
