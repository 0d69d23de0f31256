// A folder of a test, into which Weir observes.
#ifndef WEIR_TESTS_PLUGINS_OBSERVE_FOLDER_H_
#define WEIR_TESTS_PLUGINS_OBSERVE_FOLDER_H_

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weir::observe {

class Folder {
 public:
  Folder() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string("weir-observe-") + test->test_suite_name() + "-" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }
  std::string in_charge() const { return (path_ / "in_charge").string(); }

  // Each write has its own time, since files within one tick of the file system's clock would look unchanged.
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name, std::ios::binary) << text;
    time_ += std::chrono::seconds(1);
    std::filesystem::last_write_time(path_ / name, time_);
  }

  // The lines of all logs.
  std::vector<std::string> LogLines() const {
    std::vector<std::string> lines;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (!entry.path().string().ends_with(".observed.jsonl")) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) lines.push_back(line);
    }
    return lines;
  }

 private:
  std::filesystem::path path_;
  std::filesystem::file_time_type time_ = std::filesystem::file_time_type::clock::now();
};

}  // namespace weir::observe

#endif  // WEIR_TESTS_PLUGINS_OBSERVE_FOLDER_H_
