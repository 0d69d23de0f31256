// Writes lines to a file from a thread of its own, so that a slow disk holds nobody up.
#ifndef WEIR_TRAINER_GYM_SIM_REALTIME_LINE_WRITER_H_
#define WEIR_TRAINER_GYM_SIM_REALTIME_LINE_WRITER_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace weir::sim {

class LineWriter {
 public:
  // What may wait to be written; more is left out and counted.
  static constexpr size_t kMaxWaitingBytes = size_t{8} << 20;

  // `fd` outlives this. Its thread has the scheduling of the thread that makes it.
  explicit LineWriter(int fd);
  // Writes what waits.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Without a line break at its end.
  void Write(const std::string& line);
  // Nothing more is written after a failure, such as a full disk.
  bool failed() const;
  size_t lines_left_out() const;

 private:
  void Run();
  bool WriteAll(const std::string& text) const;

  const int fd_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  bool closing_ = false;
  bool failed_ = false;
  size_t lines_left_out_ = 0;
  std::thread thread_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REALTIME_LINE_WRITER_H_
