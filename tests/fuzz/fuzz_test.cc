// The fuzzers' bodies on seeded random input, so that every build runs them a little.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz_targets.h"
#include "weir/rtcp.h"

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

Bytes ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(FuzzTest, Remb) {
  std::mt19937 random(1);
  Bytes packet(RembSize(3));
  const std::array<uint32_t, 3> ssrcs{1, 2, 0xffffffff};
  ASSERT_EQ(WriteRemb(5, DataRate::KilobitsPerSecond(1234), ssrcs, packet), packet.size());
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
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_TEST_MODELS)) {
    if (entry.path().extension() != ".onnx" || entry.file_size() > 4096) continue;
    const Bytes model = ReadBytes(entry.path());
    for (int i = 0; i < 20; ++i) {
      Bytes mutated = model;
      Mutate(random, mutated);
      FuzzModel(mutated);
    }
  }
}

TEST(FuzzTest, Estimator) {
  std::mt19937 random(3);
  for (int i = 0; i < 1'000; ++i) FuzzEstimator(RandomBytes(random, random() % 2048));
  // Long enough for windows to fill and for the fallback to come and go.
  for (int i = 0; i < 20; ++i) FuzzEstimator(RandomBytes(random, 200'000));
}

TEST(FuzzTest, PoolLine) {
  std::mt19937 random(5);
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_FUZZ_CORPUS "/pool_line")) {
    const Bytes line = ReadBytes(entry.path());
    FuzzPoolLine(line);
    for (int i = 0; i < 2'000; ++i) {
      Bytes mutated = line;
      Mutate(random, mutated);
      FuzzPoolLine(mutated);
    }
    ++seeds;
  }
  EXPECT_GE(seeds, 10);
}

TEST(FuzzTest, CApi) {
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) FuzzCApi(RandomBytes(random, random() % 2048));
}

}  // namespace
}  // namespace weir::fuzz
