// cuRAND's device API, and its host API from the library's own machine code, under `muscope run`: its results against
// the same library's on the host (curand_host_api.cc), and where taken against an H200's differences from that. Skipped
// without cuRAND.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;

const std::string kPrograms = MUSCOPE_SOURCE_DIR "/tests/programs/";

std::vector<std::string> lines_of(std::istream& in, const std::string& generator) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(generator + ",")) lines.push_back(line);
  return lines;
}

class Curand : public testing::TestWithParam<std::string> {
 protected:
  ~Curand() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  /// Builds the program; false, and the test skipped, without nvcc and its cuRAND.
  bool build() {
    const auto nvcc = toolchain::find_nvcc(toolchain::SearchPlaces::from_environment());
    if (!nvcc) return false;
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    program_ = (folder_ / "curand").string();
    const auto built = toolchain::run_process({nvcc->path, "-O1", "-std=c++17", "-x", "cu", "-cudart", "shared", "-o",
                                               program_, kPrograms + "curand_host_api.cc", "-lcurand"});
    if (built.exit_code != 0) return false;
    libraries_ = (fs::path(nvcc->path).parent_path().parent_path() / "lib64").string();
    return true;
  }

  fs::path folder_;
  std::string program_, libraries_;
};

TEST_P(Curand, AsOnTheHost) {
  if (!build()) GTEST_SKIP() << "needs nvcc with cuRAND";
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string path = libraries_ + (before != nullptr ? std::string(":") + before : std::string());
  const auto run = toolchain::run_process(
      {"/usr/bin/env", "LD_LIBRARY_PATH=" + path, MUSCOPE_PROGRAM, "run", "--gpu", "h200", program_, GetParam()});
  if (run.out.find("D512") != run.out.npos) GTEST_SKIP() << "needs the cuRAND of CUDA 13.0";
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::istringstream out(run.out);
  const std::vector<std::string> ours = lines_of(out, GetParam());
  EXPECT_EQ(ours.size(), 9u);
  std::ifstream file(kPrograms + "curand_host_api.txt");
  const std::vector<std::string> theirs = lines_of(file, GetParam());
  if (!theirs.empty()) {
    EXPECT_EQ(ours, theirs) << "of an H200";
  }
}

// curand_kernel.h: the device API, against the same header on the host and against published answers.
TEST(CurandDevice, GivesKnownAnswers) {
  const auto nvcc = toolchain::find_nvcc(toolchain::SearchPlaces::from_environment());
  if (!nvcc) GTEST_SKIP() << "needs nvcc with cuRAND";
  const fs::path include = fs::path(nvcc->path).parent_path().parent_path() / "include";
  if (!fs::exists(include / "curand_kernel.h")) GTEST_SKIP() << "needs cuRAND's headers";
  for (const char* from : {"ptx", "sass"}) {
    const auto run =
        toolchain::run_process({MUSCOPE_PROGRAM, "run", "-q", "--toolchain", "nvcc", "--count-from", from,
                                "--compile-flags", "-std=c++17 -arch=sm_90", kPrograms + "curand_device.cu"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("philox, known answers: right")) << from;
    EXPECT_THAT(run.out, testing::EndsWith("PASS\n")) << from;
  }
}

// MRG32K3A and MT19937 take minutes to set up.
INSTANTIATE_TEST_SUITE_P(Generators, Curand,
                         testing::Values("xorwow", "mtgp32", "philox", "sobol32", "scrambled32", "sobol64",
                                         "scrambled64"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace muscope
