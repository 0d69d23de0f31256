// JSON lines: a writer that a slow reader cannot block, and a buffer that splits input into lines.
#ifndef WEIR_PROGRAMS_JSON_LINES_H_
#define WEIR_PROGRAMS_JSON_LINES_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

namespace weir {

// Accepts JSON objects, one per line.
class JsonLines {
 public:
  virtual ~JsonLines() = default;

  // Adds "time_us" unless the line has one. May be called from any thread.
  virtual void Write(nlohmann::ordered_json line) = 0;
  // {"type": "error", "message": ..., "fatal": ...}.
  virtual void WriteError(std::string_view message, bool fatal) {
    Write({{"type", "error"}, {"message", message}, {"fatal", fatal}});
  }
};

// Writes JSON lines to a file descriptor, on its own thread.
class JsonOutput final : public JsonLines {
 public:
  // Limit of queued bytes; lines beyond it are dropped and counted.
  static constexpr size_t kMaxWaitingBytes = size_t{16} << 20;

  // Does not close `fd`. With the name of the program, errors go to standard error too. The writer thread inherits the
  // scheduling of the constructing thread.
  explicit JsonOutput(int fd, std::string program = {});
  // Writes the queued lines, but gives up when the reader accepts nothing for two seconds.
  ~JsonOutput() override;
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  void Write(nlohmann::ordered_json line) override;
  void WriteError(std::string_view message, bool fatal) override;
  // False once a write has failed: the reader has exited, or a disk is full.
  bool good() const;

 private:
  void Enqueue(const nlohmann::ordered_json& line);
  void Run();
  bool WriteAll(std::string_view text);

  const int fd_;
  const std::string program_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  size_t waiting_bytes_ = 0;
  uint64_t dropped_ = 0;
  bool closing_ = false;
  bool broken_ = false;
  std::thread thread_;
};

class LineBuffer {
 public:
  enum class Next {
    kNothing,  // no complete line is buffered
    kLine,     // `line` holds it, without the newline
    kTooLong,  // a line of more than `max_line_size` bytes was skipped
  };

  explicit LineBuffer(size_t max_line_size) : max_line_size_(max_line_size) {}

  void Append(std::string_view bytes) { bytes_ += bytes; }
  Next Take(std::string& line);
  // Call after the last byte: the last line may lack a newline.
  Next TakeLast(std::string& line);

 private:
  const size_t max_line_size_;
  std::string bytes_;
  // Length of the prefix of `bytes_` that is known to have no newline.
  size_t searched_ = 0;
  bool skipping_ = false;
};

}  // namespace weir

#endif  // WEIR_PROGRAMS_JSON_LINES_H_
