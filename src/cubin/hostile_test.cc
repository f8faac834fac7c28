// Damaged files: cut off at many lengths, bytes changed at random with a fixed seed. Nothing may crash (the sanitizer
// build looks closer); whatever is decoded must lie inside its bytes.
#include <gtest/gtest.h>

#include <random>

#include "base/diagnostic.h"
#include "cubin/cubin.h"
#include "cubin/fatbin.h"
#include "cubin/program.h"
#include "cubin/test_files.h"

namespace muscope::cubin {
namespace {

void decode_everything(const std::vector<std::uint8_t>& bytes) {
  try {
    read_cubin(bytes);
  } catch (const Error&) {
  }
  std::vector<Diagnostic> problems;
  const Fatbin fatbin = decode_available(bytes, problems);
  for (const FatbinEntry& entry : fatbin.entries) {
    EXPECT_GE(entry.stored.data(), bytes.data());
    EXPECT_LE(entry.stored.data() + entry.stored.size(), bytes.data() + bytes.size());
    try {
      payload(entry);
    } catch (const Error&) {
    }
  }
  diagnose(inspect_program_bytes("program", bytes), {90});
}

// The interesting bytes of each kind of file.
std::vector<std::vector<std::uint8_t>> samples() {
  std::vector<std::vector<std::uint8_t>> found;
  for (const char* name :
       {"kernels_75.cubin", "kernels_90a.cubin", "vadd_zstd", "vadd_lz4", "vadd_lineinfo", "rdc_shared", "raw_ptx"}) {
    found.push_back(read_test_binary(name));
  }
  // Fat binaries alone: from the first container on.
  for (const char* name : {"vadd_many", "vadd_zstd", "vadd_lz4"}) {
    std::vector<std::uint8_t> bytes = read_test_binary(name);
    const std::array<std::uint8_t, 4> magic{0x50, 0xed, 0x55, 0xba};
    bytes.erase(bytes.begin(), std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end()));
    bytes.resize(std::min<std::size_t>(bytes.size(), 8192));
    found.push_back(std::move(bytes));
  }
  return found;
}

TEST(HostileFiles, CutOff) {
  for (const auto& whole : samples()) {
    ASSERT_GT(whole.size(), 1000u);
    // Every length over the headers, then some.
    for (std::size_t length = 0; length < whole.size(); length += length < 256 ? 1 : 97 + length / 64) {
      decode_everything({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    }
  }
}

TEST(HostileFiles, ChangedBytes) {
  std::mt19937 random(20240607);
  for (const auto& whole : samples()) {
    ASSERT_GT(whole.size(), 1000u);
    for (int round = 0; round < 150; ++round) {
      auto bytes = whole;
      const int changes = 1 + static_cast<int>(random() % 8);
      for (int i = 0; i < changes; ++i) {
        // Headers lie at both ends.
        const std::size_t near_end = bytes.size() - 1 - random() % std::min<std::size_t>(bytes.size(), 4096);
        const std::size_t near_start = random() % std::min<std::size_t>(bytes.size(), 256);
        const std::size_t anywhere = random() % bytes.size();
        const std::size_t at = round % 3 == 0 ? near_start : round % 3 == 1 ? near_end : anywhere;
        bytes[at] = random() % 2 == 0 ? 0xff : static_cast<std::uint8_t>(random());
      }
      decode_everything(bytes);
    }
  }
}

}  // namespace
}  // namespace muscope::cubin
