// A child process that answers each line on its standard input with one line on its standard output. Whatever the child
// does, Ask() keeps to its time limit, and neither a zombie nor a running child remains.
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

  // `command`: the program's path, or its name on PATH, and its arguments. Returns an error if it cannot be started.
  static Result<std::unique_ptr<LineProcess>> Start(const std::vector<std::string>& command);
  // Closes the child's standard input, and kills the child if it does not end then.
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // `line` includes its newline; the answer does not, and is valid until the next call. An error includes the process's
  // last standard error output; the process has then ended.
  Result<std::string_view> Ask(std::string_view line, TimeDelta limit);

 private:
  LineProcess(pid_t process, FileDescriptor in, FileDescriptor out, FileDescriptor err)
      : process_(process), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}

  // Performs one step of I/O, until `deadline_ms` at the latest. Returns an error if the process has ended.
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
