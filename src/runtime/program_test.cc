// Whole programs under the preloaded runtime.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/static_redirect.h"

namespace muscope::runtime {
namespace {

const std::string kBinary = MUSCOPE_BINARY_DIR;
const std::string kSource = MUSCOPE_SOURCE_DIR;
const std::string kShim = kBinary + "/lib/muscope/libcudart.so.13";

[[maybe_unused]] std::string output_of(const std::string& command, int& status) {
  std::string text;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) text.append(buffer, got);
  status = pclose(pipe);
  return text;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

[[maybe_unused]] std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) list.push_back(line);
  return list;
}

TEST(StaticRuntime, IsFoundByItsSymbols) {
  const std::string program = read(kBinary + "/tests/muscope_static_program");
  ASSERT_FALSE(program.empty());
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(program.data()), program.size());
  int major = 0;
  const auto functions = static_functions(bytes, major);
  EXPECT_EQ(major, 13);
  const auto has = [&](const char* name) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const StaticFunction& f) { return f.name == name && f.room >= 5; });
  };
  EXPECT_TRUE(has("cudaMalloc"));
  EXPECT_TRUE(has("__cudaRegisterFatBinary"));
  EXPECT_FALSE(has("main"));
  // No part of a file makes it read outside.
  for (std::size_t size = 0; size < program.size(); size += 97) static_functions(bytes.first(size), major);
  EXPECT_TRUE(static_functions({}, major).empty());
}

TEST(StaticRuntime, OfCuda11IsFoundByAFunctionThatLaterOnesLack) {
  const std::string program = read(kBinary + "/tests/muscope_static_program_11");
  int major = 0;
  const auto functions =
      static_functions({reinterpret_cast<const std::uint8_t*>(program.data()), program.size()}, major);
  EXPECT_FALSE(functions.empty());
  EXPECT_EQ(major, 11);
}

#ifndef MUSCOPE_SANITIZED  // a sanitizer's library must be the first to be loaded

TEST(StaticRuntime, JumpsToOurs) {
  int status = 0;
  const std::string text = output_of("LD_PRELOAD=" + kShim + " " + kBinary + "/tests/muscope_static_program", status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "malloc 0 memset 0 1 own 7\nlast errors: shared 0 own 1 0\n");
}

// What differs between two H200s: the PCI bus.
bool belongs_to_the_machine(const std::string& line) { return line.starts_with("devices | attribute 33 "); }

// Compiles tests/programs/`name`.cu with clang against our runtime and runs it: its lines, empty where there is no
// clang.
std::vector<std::string> lines_of_program(const std::string& name) {
  const std::string clang = MUSCOPE_TEST_CLANG;
  if (clang.empty()) return {};
  const bool newest = clang.find("22") != std::string::npos;
  const std::string base = ::testing::TempDir() + "/" + name + "_" + std::to_string(getpid());
  const std::string source = kSource + "/tests/programs/" + name + ".cu";
  const std::string common = clang +
                             " -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib -Xclang -target-sdk-version=" +
                             (newest ? "12.9" : "12.5") + " --cuda-gpu-arch=sm_90 -isystem " + kSource +
                             "/toolkit -include " + kSource + "/toolkit/muscope/prelude.h -std=c++17 -w ";
  const std::string command =
      common + "--cuda-device-only --cuda-feature=" + (newest ? "+ptx88" : "+ptx85") + " -O3 -S -o " + base + ".ptx " +
      source + " && " + common + "--cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang " + base +
      ".ptx -O1 -c -o " + base + ".o " + source + " && c++ " + base + ".o -o " + base + " " + kShim + " -Wl,-rpath," +
      kBinary + "/lib/muscope && " + base + "; code=$?; rm -f " + base + "*; exit $code";
  int status = 0;
  auto ours = lines(output_of(command, status));
  EXPECT_EQ(status, 0);
  return ours;
}

TEST(RuntimeProgram, AnswersEveryCallAsAnH200) {
  const auto ours = lines_of_program("runtime_api");
  if (ours.empty()) GTEST_SKIP() << "needs clang 22 or 19";
  const auto theirs = lines(read(kSource + "/tests/counters/runtime_api_h200.txt"));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (belongs_to_the_machine(theirs[i])) continue;
    EXPECT_EQ(ours[i], theirs[i]);
  }
}

TEST(RuntimeProgram, GraphsAnswerAndWorkAsOnAnH200) {
  const auto ours = lines_of_program("graphs");
  if (ours.empty()) GTEST_SKIP() << "needs clang 22 or 19";
  EXPECT_EQ(ours, lines(read(kSource + "/tests/counters/graphs_h200.txt")));
}

TEST(RuntimeProgram, SurfacesAnswerAndHoldWhatTheyDoOnAnH200) {
  const auto ours = lines_of_program("surfaces");
  if (ours.empty()) GTEST_SKIP() << "needs clang 22 or 19";
  EXPECT_EQ(ours, lines(read(kSource + "/tests/counters/surfaces_h200.txt")));
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> list;
  std::istringstream in(line);
  for (std::string word; in >> word;) list.push_back(word);
  return list;
}

// Bits that are not an H200's: samples at the corners of seamless cubes (18 to 25 of a line), which hardware weighs
// unevenly; two directions that are far from 1, whose division falls on an edge between texels; volumes between levels.
bool may_differ(const std::string& line, std::size_t sample) {
  if (line.starts_with("cube") || line.starts_with("layered cube"))
    return (sample >= 18 && sample < 26) || sample == 37 || sample == 38;
  return line.starts_with("levels 3d") || line.starts_with("levels of a cube");
}

TEST(RuntimeProgram, TexturesGiveTheBitsOfAnH200) {
  const auto ours = lines_of_program("textures_more");
  if (ours.empty()) GTEST_SKIP() << "needs clang 22 or 19";
  const auto theirs = lines(read(kSource + "/tests/counters/textures_more_h200.txt"));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto bar = theirs[i].find('|');
    if (bar == std::string::npos || theirs[i].starts_with("api")) {
      EXPECT_EQ(ours[i], theirs[i]);
      continue;
    }
    ASSERT_EQ(ours[i].substr(0, bar), theirs[i].substr(0, bar));
    const auto a = words(ours[i].substr(bar + 1)), b = words(theirs[i].substr(bar + 1));
    ASSERT_EQ(a.size(), b.size()) << theirs[i].substr(0, bar);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (may_differ(theirs[i], k)) continue;
      EXPECT_EQ(a[k], b[k]) << theirs[i].substr(0, bar) << " sample " << k;
    }
  }
}

#endif

}  // namespace
}  // namespace muscope::runtime
