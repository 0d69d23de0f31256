// The fuzzers' bodies on what fuzzers found worth keeping (corpus/) and on seeded random input, so that every build
// runs them a little. A body aborts where a promise of the library is broken.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_targets.h"
#include "weir/remb_sender.h"

namespace weir::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes RandomBytes(std::mt19937& random, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

void Mutate(std::mt19937& random, Bytes& bytes) {
  for (uint32_t i = random() % 4 + 1; i > 0 && !bytes.empty(); --i) {
    switch (random() % 3) {
      case 0:
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
        break;
      case 1:
        bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(random() % bytes.size()));
        break;
      case 2:
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(random() % bytes.size()), static_cast<uint8_t>(random()));
        break;
    }
  }
}

Bytes ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// In an order that is the same everywhere.
std::vector<Bytes> ReadFiles(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/tests/" + folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  files.reserve(paths.size());
  for (const auto& path : paths) files.push_back(ReadFile(path));
  EXPECT_GT(files.size(), 2u) << folder;
  return files;
}

void RunCorpus(const std::string& target, void (*body)(std::span<const uint8_t>)) {
  for (const Bytes& bytes : ReadFiles("fuzz/corpus/" + target)) body(bytes);
}

TEST(FuzzTest, Remb) {
  RunCorpus("remb", FuzzRemb);
  std::mt19937 random(1);
  Bytes packet(RembSize(3));
  const Remb remb{
      .sender_ssrc = 5, .rate = DataRate::KilobitsPerSecond(1234), .ssrc_count = 3, .ssrcs = {1, 2, 0xffffffff}};
  ASSERT_EQ(WriteRemb(remb, packet), packet.size());
  FuzzRemb(packet);
  for (int i = 0; i < 20'000; ++i) {
    Bytes mutated = packet;
    Mutate(random, mutated);
    FuzzRemb(mutated);
    FuzzRemb(RandomBytes(random, random() % 64));
  }
}

TEST(FuzzTest, Model) {
  std::mt19937 random(2);
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_TEST_MODELS)) {
    if (entry.path().extension() != ".onnx" || entry.file_size() > 4096) continue;
    const Bytes model = ReadFile(entry.path());
    ++models;
    for (int i = 0; i < 20; ++i) {
      Bytes mutated = model;
      Mutate(random, mutated);
      FuzzModel(mutated);
    }
  }
  EXPECT_GT(models, 20);
}

TEST(FuzzTest, Arrivals) {
  RunCorpus("arrivals", FuzzArrivals);
  std::mt19937 random(5);
  for (int i = 0; i < 1'000; ++i) FuzzArrivals(RandomBytes(random, random() % 4096));
  FuzzArrivals(RandomBytes(random, 1'000'000));
}

TEST(FuzzTest, Estimator) {
  RunCorpus("estimator", FuzzEstimator);
  std::mt19937 random(3);
  for (int i = 0; i < 1'000; ++i) FuzzEstimator(RandomBytes(random, random() % 2048));
  // Long enough for windows to fill and for the fallback to come and go.
  for (int i = 0; i < 20; ++i) FuzzEstimator(RandomBytes(random, 200'000));
}

TEST(FuzzTest, PoolLine) {
  std::mt19937 random(5);
  for (const Bytes& line : ReadFiles("fuzz/corpus/pool_line")) {
    FuzzPoolLine(line);
    for (int i = 0; i < 2'000; ++i) {
      Bytes mutated = line;
      Mutate(random, mutated);
      FuzzPoolLine(mutated);
    }
  }
}

TEST(FuzzTest, CApi) {
  RunCorpus("c_api", FuzzCApi);
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) FuzzCApi(RandomBytes(random, random() % 2048));
}

TEST(FuzzTest, Scenario) {
  RunCorpus("scenario", FuzzScenario);
  std::mt19937 random(6);
  for (const std::string folder : {"data/scenarios/good", "data/scenarios/bad", "data/scenarios/bad_controllers"}) {
    for (const Bytes& file : ReadFiles(folder)) {
      FuzzScenario(file);
      for (int i = 0; i < 100; ++i) {
        Bytes mutated = file;
        Mutate(random, mutated);
        FuzzScenario(mutated);
      }
    }
  }
}

Bytes FrameOf(char type, std::string_view payload) {
  const auto length = static_cast<uint32_t>(payload.size());
  Bytes frame(reinterpret_cast<const uint8_t*>(&length), reinterpret_cast<const uint8_t*>(&length) + sizeof(length));
  frame.push_back(static_cast<uint8_t>(type));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

TEST(FuzzTest, Serve) {
  RunCorpus("serve", FuzzServe);
  std::mt19937 random(7);
  const Bytes scenario = ReadFile(std::string(WEIR_SOURCE_DIR) + "/tests/data/scenarios/good/minimal.json");
  const std::string request = R"({"seed":1,"interval_ms":200,"features":["receive_rate_bps"],"history":2,)"
                              R"("action":{"kind":"discrete","min_bps":1e4,"max_bps":1e7,"multipliers":[0.5,2]},)"
                              R"("objective":[1,2,3],"packets":true,"scenario":)" +
                              std::string(scenario.begin(), scenario.end()) + "}";
  Bytes stream = FrameOf('R', request);
  for (const Bytes& frame : {FrameOf('S', "16 bytes of step"), FrameOf('X', "")}) {
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  FuzzServe(stream);
  for (int i = 0; i < 5'000; ++i) {
    Bytes mutated = stream;
    Mutate(random, mutated);
    FuzzServe(mutated);
  }
}

}  // namespace
}  // namespace weir::fuzz
