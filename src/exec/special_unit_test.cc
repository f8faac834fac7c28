// The special function unit against an H200, by digests over all arguments of one sign and exponent.
//
// By hand, over all 2^32 arguments of every function (minutes):
//   exec_test --gtest_also_run_disabled_tests --gtest_filter='SpecialUnit.*AllArguments'
#include "exec/special_unit.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using std::uint32_t;
using std::uint64_t;
using Function = uint32_t (*)(uint32_t);
using Digest = uint64_t (*)(uint32_t block);

constexpr uint32_t kArguments = 1u << 23;  ///< of one block: one sign and exponent
constexpr uint32_t kBlocks = 512;

/// The argument of sin and cos in revolutions: what ptxas puts before the unit.
uint32_t revolutions(uint32_t x) {
  const double product = static_cast<double>(std::bit_cast<float>(x)) * static_cast<double>(0.15915494f);
  const uint64_t cut = std::bit_cast<uint64_t>(product) & ~uint64_t{0x1fffffff};
  return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(cut)));
}
uint32_t sine_of_radians(uint32_t x) { return special::sine<false>(revolutions(x)); }
uint32_t cosine_of_radians(uint32_t x) { return special::sine<true>(revolutions(x)); }

/// As special_functions.cu has it.
uint64_t mixed(uint32_t argument, uint32_t result) {
  uint64_t h = (uint64_t{argument} << 32 | result) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  return h * 0xbf58476d1ce4e5b9ull;
}

template <Function kFunction>
uint64_t digest(uint32_t block) {
  std::array<uint32_t, 4096> results;
  uint64_t sum = 0;
  for (uint32_t first = 0; first < kArguments; first += results.size()) {
    const uint32_t start = block << 23 | first;
    for (uint32_t i = 0; i < results.size(); ++i) results[i] = kFunction(start + i);
    for (uint32_t i = 0; i < results.size(); ++i) sum += mixed(start + i, results[i]);
  }
  return sum;
}

const std::map<std::string, Digest> kFunctions = {
    {"rcp", digest<special::reciprocal>}, {"rsqrt", digest<special::reciprocal_root>},
    {"sqrt", digest<special::root>},      {"ex2", digest<special::power_of_two>},
    {"lg2", digest<special::logarithm>},  {"sin", digest<sine_of_radians>},
    {"cos", digest<cosine_of_radians>},   {"tanh", digest<special::tangent>},
};

/// Digests that an H200 printed, by function and block.
const std::map<std::string, std::map<uint32_t, uint64_t>>& measured() {
  static const auto digests = [] {
    std::map<std::string, std::map<uint32_t, uint64_t>> read;
    std::ifstream file(MUSCOPE_SOURCE_DIR "/tests/counters/experiments/special_functions_h200.txt");
    std::string function;
    for (uint32_t block; file >> function >> std::dec >> block;) file >> std::hex >> read[function][block];
    return read;
  }();
  return digests;
}

void expect_equal(const std::string& function, std::initializer_list<uint32_t> blocks) {
  for (const uint32_t block : blocks)
    EXPECT_EQ(kFunctions.at(function)(block), measured().at(function).at(block)) << function << ", block " << block;
}

TEST(SpecialUnit, DigestsOfAnH200) {
  expect_equal("rcp", {127, 253});
  expect_equal("rsqrt", {1, 128});
  expect_equal("sqrt", {127, 254});
  expect_equal("ex2", {104, 126, 388});
  expect_equal("lg2", {1, 126});
  expect_equal("sin", {128, 390});
  expect_equal("cos", {127, 140});
  expect_equal("tanh", {118, 119, 122, 125, 128, 129, 382, 385});
}

// Results of an H200 about the wide segments from 4: the first, a start with a jump up, a step down within, the last.
TEST(SpecialUnit, TangentFromFour) {
  const std::map<uint32_t, uint32_t> results = {
      {0x40800000, 0x3f7fd430}, {0x40803fff, 0x3f7fd4d4}, {0x40804000, 0x3f7fd4d3}, {0x408fffff, 0x3f7fefb0},
      {0x40900000, 0x3f7fefe0}, {0x40a00000, 0x3f7ffa10}, {0x40b1337f, 0x3f7ffdf6}, {0x40bfffff, 0x3f7fff30},
      {0x40c00000, 0x3f7fff34}, {0x40ffe7ff, 0x3f7ffffc}, {0x40ffe800, 0x3f7ffffb}, {0x40ffffff, 0x3f7ffffc},
  };
  for (const auto& [x, want] : results) {
    EXPECT_EQ(special::tangent(x), want) << std::hex << x;
    EXPECT_EQ(special::tangent(x | 0x80000000u), want | 0x80000000u) << std::hex << x;
  }
}

TEST(SpecialUnit, DISABLED_AllArguments) {
  std::printf("| function | blocks of 2^23 arguments | equal |\n|---|---|---|\n");
  for (const auto& [function, digests] : measured()) {
    unsigned equal = 0;
    for (const auto& [block, want] : digests) {
      const bool same = kFunctions.at(function)(block) == want;
      equal += same;
      EXPECT_TRUE(same) << function << ", block " << block;
    }
    std::printf("| %s | %zu | %u |\n", function.c_str(), digests.size(), equal);
    EXPECT_EQ(digests.size(), kBlocks);
  }
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
