// driver_api.cc, built by the host's compiler alone, under `muscope run`: what the driver API answers, call by call.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
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

/// In a folder of its own, since the program writes a file.
std::vector<std::string> answers_under(const std::string& count_from) {
  std::string folder = (std::filesystem::temp_directory_path() / "muscope-test-XXXXXX").string();
  EXPECT_NE(::mkdtemp(folder.data()), nullptr);
  toolchain::ProcessOptions options;
  options.directory = folder;
  const auto result =
      toolchain::run_process({MUSCOPE_PROGRAM, "run", "--count-from", count_from, MUSCOPE_DRIVER_PROGRAM}, options);
  std::filesystem::remove_all(folder);
  std::istringstream out(result.out);
  return answers(out);
}

std::vector<std::string> expected() {
  std::ifstream file(MUSCOPE_SOURCE_DIR "/tests/programs/driver_api.txt");
  return answers(file);
}

TEST(DriverProgram, AnswersEveryCallAsItShould) {
  const auto theirs = expected();
  ASSERT_GT(theirs.size(), 400u);
  EXPECT_EQ(answers_under("auto"), theirs);
}

TEST(DriverProgram, AnswersTheSameWithoutMachineCode) { EXPECT_EQ(answers_under("ptx"), expected()); }

}  // namespace
}  // namespace muscope
