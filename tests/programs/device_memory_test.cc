// device_memory.cc and peers.cc, built by the host's compiler alone, under `muscope run --devices 2`: virtual memory
// management and peer access, call by call, as two H200 answer.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "toolchain/process.h"

namespace muscope {
namespace {

/// Lines "group | call -> code", without the report.
std::vector<std::string> answers(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (line.find(" | ") != line.npos && line[0] != ' ') lines.push_back(line);
  return lines;
}

std::vector<std::string> answers_under(const std::string& count_from, const std::string& program) {
  const auto result = toolchain::run_process(
      {MUSCOPE_PROGRAM, "run", "--gpu", "h200", "--devices", "2", "--count-from", count_from, program});
  std::istringstream out(result.out);
  return answers(out);
}

std::vector<std::string> expected(const std::string& name) {
  std::ifstream file(MUSCOPE_SOURCE_DIR "/tests/programs/" + name);
  return answers(file);
}

TEST(DeviceMemory, VirtualMemoryManagement) {
  const auto theirs = expected("device_memory.txt");
  ASSERT_GT(theirs.size(), 200u);
  for (const char* from : {"auto", "ptx"}) EXPECT_EQ(answers_under(from, MUSCOPE_DEVICE_MEMORY), theirs) << from;
}

TEST(DeviceMemory, PeersAndTheirCopies) {
  const auto theirs = expected("peers.txt");
  ASSERT_GT(theirs.size(), 200u);
  for (const char* from : {"auto", "ptx"}) EXPECT_EQ(answers_under(from, MUSCOPE_PEERS), theirs) << from;
}

}  // namespace
}  // namespace muscope
