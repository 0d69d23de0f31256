// JSON lines to a file descriptor. Who writes is never held up by who reads: a thread of its own does the writing, and
// what a slow reader leaves behind is bounded.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_OUTPUT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_OUTPUT_H_

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

class JsonOutput {
 public:
  // Bytes that wait for the reader; lines beyond are dropped and counted.
  static constexpr size_t kMaxWaitingBytes = size_t{16} << 20;

  // Does not close `fd`. With the name of the program, errors go to standard error too. The thread has the scheduling
  // of the thread that makes this.
  explicit JsonOutput(int fd, std::string program = {});
  // Writes what waits, unless the reader takes nothing for two seconds.
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  // Adds "time_us" unless the line has one. May be called from any thread.
  void Write(nlohmann::ordered_json line);
  // {"type": "error", "message": ..., "fatal": ...}.
  void WriteError(std::string_view message, bool fatal);
  // False once nothing can be written any more: the reader has gone, or a disk is full.
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

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_JSON_OUTPUT_H_
