// CUB's device algorithms (cub_algorithms.cu) under `muscope run`, for each type of element, up to 2^20 of them.
// Skipped without nvcc and its CUB.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;

class Cub : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  Cub() {
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Cub() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_P(Cub, AlgorithmsGiveWhatTheHostGives) {
  const auto nvcc = toolchain::find_nvcc(toolchain::SearchPlaces::from_environment());
  if (!nvcc) GTEST_SKIP() << "needs nvcc";
  const std::string program = (folder_ / "cub").string();
  const auto built = toolchain::run_process({nvcc->path, "-O2", "-std=c++17", "-arch=sm_90", "-cudart", "shared",
                                             "-DTYPE=" + std::to_string(std::get<0>(GetParam())),
                                             "-DPART=" + std::to_string(std::get<1>(GetParam())), "-o", program,
                                             MUSCOPE_SOURCE_DIR "/tests/programs/cub_algorithms.cu"});
  if (built.exit_code != 0 && built.err.find("cub/cub.cuh") != built.err.npos) GTEST_SKIP() << "needs nvcc's CUB";
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const auto run = toolchain::run_process({MUSCOPE_PROGRAM, "run", "--gpu", "h200", program});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("PASS\n"));
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, int>>& test) {
  const char* const types[] = {"Int", "Float", "Double", "Unsigned64", "Structure"};
  const int part = std::get<1>(test.param);
  return std::string(part == 1 ? "Sums" : part == 2 ? "Selections" : "Sorts") + types[std::get<0>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Types, Cub, testing::Combine(testing::Range(0, 5), testing::Values(1, 2, 4)), name_of);

}  // namespace
}  // namespace muscope
