// A golden table of tests/sass: words of machine code, each with its text as NVIDIA's disassembler writes it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "sass/instruction.h"

namespace muscope::sass {

/// Expects text(decode(word)) to equal the third column in every row (low word, high word, text; tab separated) and
/// more than `at_least` rows. `name`: file in tests/sass.
inline void expect_texts_of(const std::string& name, unsigned at_least, Encoding encoding = Encoding::kHopper) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/sass/" + name);
  std::string line;
  unsigned count = 0;
  while (std::getline(in, line)) {
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << line;
    const Word word{std::strtoull(line.c_str(), nullptr, 16), std::strtoull(line.c_str() + first + 1, nullptr, 16)};
    EXPECT_EQ(text(decode(word, 0, encoding)), line.substr(second + 1)) << line;
    ++count;
  }
  EXPECT_GT(count, at_least);
}

}  // namespace muscope::sass
