// What the tests of machine code share: fields of instruction words, the sources of the committed cubins.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cubin/byte_reader.h"
#include "cubin/code_image.h"
#include "cubin/test_files.h"

namespace muscope::cubin {

inline constexpr unsigned kCallAbsolute = 0x943, kCallRelative = 0x944, kExit = 0x94d, kIndirectBranch = 0x949,
                          kMove = 0x802, kUniformMove = 0x882;

struct TestWord {
  std::uint64_t lo = 0, hi = 0;
  unsigned opcode() const { return lo & 0xfff; }
  std::uint64_t immediate() const { return lo >> 32; }
  /// Of a call or branch of sm_90: bits 16..23 and 34..80.
  std::int64_t target() const {
    const std::uint64_t high = (lo >> 34) | (hi << 30);
    const std::uint64_t bits = ((lo >> 16) & 0xff) << 2 | high << 10;
    return static_cast<std::int64_t>(bits << 7) >> 7;
  }
  bool operator==(const TestWord&) const = default;
};

inline TestWord word_at(const CodeSection& section, std::uint64_t pc) {
  return {read_at<std::uint64_t>(section.bytes, pc), read_at<std::uint64_t>(section.bytes, pc + 8)};
}

/// The number of the line of a source (tests/counters/binaries/src) that ends with this comment.
inline std::uint32_t line_with(const std::string& source, const std::string& comment) {
  std::ifstream in(test_binary("src/" + source));
  std::string text;
  for (std::uint32_t line = 1; std::getline(in, text); ++line) {
    if (text.ends_with("// " + comment)) return line;
  }
  ADD_FAILURE() << comment;
  return 0;
}

inline CodeImage read_code(const std::string& name) { return read_code_image(read_test_binary(name)); }

inline const ImageSymbol* symbol_of(const std::vector<ImageSymbol>& symbols, const std::string& name) {
  for (const ImageSymbol& symbol : symbols) {
    if (symbol.name == name) return &symbol;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

}  // namespace muscope::cubin
