#include "programs/line_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "programs/input.h"
#include "programs/monotonic_clock.h"

namespace weir {
namespace {

constexpr size_t kStandardErrorKept = 500;
constexpr int kGraceMs = 500;
constexpr int kLastWordsMs = 200;

int64_t NowMs() { return MonotonicMicros() / 1000; }

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
    return true;
  }
};

// Runs between fork and exec, where few functions are allowed. Writes errno to `report` if exec fails.
[[noreturn]] void BecomeChild(char* const* argv, const Pipe& in, const Pipe& out, const Pipe& err, int report,
                              pid_t parent, bool from_main_thread) {
  // Kills the child when its parent ends, however that ends. The kernel counts the forking thread as the parent; a
  // child of a thread other than the main thread, which may end earlier, only sees its standard input end.
  if (from_main_thread) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(in.read.get(), 0) >= 0 && dup2(out.write.get(), 1) >= 0 && dup2(err.write.get(), 2) >= 0)
    execvp(argv[0], argv);
  const int fault = errno;
  [[maybe_unused]] const ssize_t written = write(report, &fault, sizeof fault);
  _exit(127);
}

std::string Seconds(TimeDelta limit) {
  std::string text = std::to_string(limit.seconds());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

// Trims `said` and joins its lines into one.
std::string LastWords(std::string said) {
  while (!said.empty() && std::isspace(static_cast<unsigned char>(said.back()))) said.pop_back();
  said.erase(0, said.find_first_not_of(" \t\r\n"));
  std::string line;
  for (const char c : said) (c == '\n' ? line += " / " : line += c);
  return Printable(line);
}

}  // namespace

Result<std::unique_ptr<LineProcess>> LineProcess::Start(const std::vector<std::string>& command) {
  Pipe in, out, err, report;
  const bool opened = in.Open() && out.Open() && err.Open() && report.Open();
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const bool from_main_thread = gettid() == parent;
  const pid_t process = opened && !command.empty() ? fork() : -1;
  if (process == 0) BecomeChild(argv.data(), in, out, err, report.write.get(), parent, from_main_thread);
  int fault = process < 0 ? errno : 0;
  report.write.Close();
  if (process > 0 && read(report.read.get(), &fault, sizeof fault) > 0) waitpid(process, nullptr, 0);
  if (fault != 0) return Error{"it cannot be started (" + std::string(std::strerror(fault)) + ")"};
  for (const FileDescriptor* end : {&in.write, &out.read, &err.read}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<LineProcess>(
      new LineProcess(process, std::move(in.write), std::move(out.read), std::move(err.read)));
}

LineProcess::~LineProcess() { End(false); }

Result<std::string_view> LineProcess::Ask(std::string_view line, TimeDelta limit) {
  if (!running_) return Error{"it has ended"};
  answer_.clear();
  ReadAnswer();
  if (!answer_.empty())
    return Fail("it wrote " + std::to_string(answer_.size()) + " bytes more than one line an answer");
  const int64_t deadline_ms = NowMs() + limit.us() / 1000;
  std::string_view unsent = line;
  while (true) {
    const Result<bool> going_on = Transfer(unsent, deadline_ms);
    if (!going_on) return Error{going_on.error()};
    const size_t end = answer_.find('\n');
    if (end != std::string::npos) {
      if (end + 1 != answer_.size()) return Fail("it wrote more than one line as an answer");
      return std::string_view(answer_).substr(0, end);
    }
    if (answer_.size() > kLongestLine) return Fail("it wrote more than 64 kB without the end of a line");
    if (!going_on.value()) return Fail("it gave no answer within " + Seconds(limit));
  }
}

// Returns false once the deadline has passed.
Result<bool> LineProcess::Transfer(std::string_view& unsent, int64_t deadline_ms) {
  pollfd fds[3] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {unsent.empty() ? -1 : in_.get(), POLLOUT, 0}};
  const int64_t left_ms = std::max<int64_t>(0, deadline_ms - NowMs());
  poll(fds, 3, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
  if (fds[1].revents) ReadStandardError();
  if (fds[0].revents && !ReadAnswer()) return Fail("");
  if (fds[2].revents) {
    const ssize_t written = write(in_.get(), unsent.data(), unsent.size());
    if (written > 0) unsent.remove_prefix(static_cast<size_t>(written));
    // The process has closed its input. Its answer or its exit decides the result.
    if (written < 0 && errno == EPIPE) unsent = {};
  }
  return NowMs() < deadline_ms;
}

// Returns false at the end of the process's standard output.
bool LineProcess::ReadAnswer() {
  char buffer[4096];
  while (answer_.size() <= kLongestLine) {
    const ssize_t count = read(out_.get(), buffer, sizeof buffer);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    answer_.append(buffer, static_cast<size_t>(count));
  }
  return true;
}

// Reads only once: a process that writes faster than this reads must not block the caller.
void LineProcess::ReadStandardError() {
  char buffer[4096];
  const ssize_t count = read(err_.get(), buffer, sizeof buffer);
  // At end of file, poll() returns at once every time.
  if (count == 0) err_.Close();
  if (count <= 0) return;
  said_.append(buffer, static_cast<size_t>(count));
  if (said_.size() > 2 * kStandardErrorKept) said_.erase(0, said_.size() - kStandardErrorKept);
}

// `what` is empty if the process ended by itself.
Error LineProcess::Fail(std::string what) {
  End(!what.empty());
  if (what.empty()) {
    what = WIFSIGNALED(wait_status_) ? "it was killed by signal " + std::to_string(WTERMSIG(wait_status_))
                                     : "it ended with status " + std::to_string(WEXITSTATUS(wait_status_));
  }
  pollfd fd{err_.get(), POLLIN, 0};
  const int64_t until_ms = NowMs() + kLastWordsMs;
  while (err_ && NowMs() < until_ms && poll(&fd, 1, static_cast<int>(until_ms - NowMs())) > 0) {
    ReadStandardError();
    fd.fd = err_.get();
  }
  if (said_.size() > kStandardErrorKept) said_.erase(0, said_.size() - kStandardErrorKept);
  const std::string said = LastWords(said_);
  return Error{what + (said.empty() ? "" : "; on standard error: " + said)};
}

void LineProcess::End(bool at_once) {
  if (!running_) return;
  running_ = false;
  in_.Close();
  const int64_t until_ms = NowMs() + (at_once ? 0 : kGraceMs);
  while (waitpid(process_, &wait_status_, WNOHANG) == 0) {
    if (NowMs() >= until_ms) {
      kill(process_, SIGKILL);
      waitpid(process_, &wait_status_, 0);
      return;
    }
    poll(nullptr, 0, 2);
  }
}

}  // namespace weir
