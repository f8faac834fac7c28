// Reads the committed test binaries (tests/counters/binaries).
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace muscope::cubin {

inline std::string test_binary(const std::string& name) {
  return std::string(MUSCOPE_SOURCE_DIR "/tests/counters/binaries/") + name;
}

inline std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::uint8_t> read_test_binary(const std::string& name) { return read_file(test_binary(name)); }

}  // namespace muscope::cubin
