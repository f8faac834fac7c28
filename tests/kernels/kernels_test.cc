// The kernels of kernels/ run without a GPU: their own programs check results, here their traffic is held against what
// each call must move at least.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

using nlohmann::json;
using testing::StartsWith;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kTests = MUSCOPE_SOURCE_DIR "/kernels/tests/";

/// The compilers that are installed, in the spelling of --toolchain.
std::vector<std::string> compilers() {
  const auto places = toolchain::SearchPlaces::from_environment();
  std::vector<std::string> found;
  if (toolchain::find_clang(places)) found.push_back("clang");
  if (toolchain::find_nvcc(places)) found.push_back("nvcc");
  return found;
}

class Kernels : public testing::TestWithParam<const char*> {};

TEST_P(Kernels, GiveRightResults) {
  const auto found = compilers();
  if (found.empty()) GTEST_SKIP() << "needs clang 19 or newer, or nvcc";
  const ProcessResult run = toolchain::run_process(
      {kMuscope, "run", "-q", "--toolchain", found.front(), MUSCOPE_SOURCE_DIR "/kernels/" + std::string(GetParam())});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("PASS")) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Programs, Kernels,
                         testing::Values("tests/transpose_test.cu", "tests/reduce_test.cu", "tests/scan_test.cu",
                                         "tests/histogram_test.cu", "tests/convolution_test.cu",
                                         "tests/copy_nbody_test.cu", "ladder/transpose.cu", "ladder/reduce.cu",
                                         "ladder/scan.cu", "ladder/histogram.cu", "ladder/convolution.cu",
                                         "ladder/nbody.cu", "ladder/layout.cu", "ladder/segmented.cu",
                                         "../lab/memory.cu", "../lab/patterns.cu", "../lab/onchip.cu",
                                         "../lab/threads.cu", "../lab/transfers.cu", "../lab/transposes.cu",
                                         "../lab/peers.cu", "../lab/clusters.cu"),
                         [](const auto& test) {
                           std::string name = test.param;
                           name = name.substr(name.rfind('/') + 1);
                           return name.substr(0, name.find('.'));
                         });

// Ported to MUSA, their programs find the same right results.
TEST(KernelsInMusa, GiveRightResults) {
  if (!toolchain::find_clang(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs clang 19 or newer";
  const auto folder = std::filesystem::temp_directory_path() / ("muscope-kernels-" + std::to_string(getpid()));
  const ProcessResult port = toolchain::run_process(
      {kMuscope, "port", "--quiet", MUSCOPE_SOURCE_DIR "/kernels", "--no-ignore", "--out-dir", folder.string()});
  EXPECT_THAT(port.exit_code, testing::AnyOf(0, 4)) << port.err;  // 4: the measuring programs need work by hand
  for (const char* program : {"transpose", "reduce", "scan", "histogram", "convolution", "copy_nbody"}) {
    const std::string source = (folder / "tests" / (std::string(program) + "_test.mu")).string();
    const ProcessResult run = toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "clang", source});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, StartsWith("PASS")) << source << run.err;
  }
  std::filesystem::remove_all(folder);
}

/// What sectors.cu says that a call must move.
struct Minimum {
  std::string kernel;
  long long read, written, slack;
};

long long sectors(const json& launch, const std::string& operation) {
  const json& metrics = launch.at("metrics");
  const auto found = metrics.find("l1tex__t_sectors_pipe_lsu_mem_global_op_" + operation + ".sum");
  return found == metrics.end() ? 0 : found->at("value").get<long long>();
}

TEST(KernelTraffic, IsNoMoreThanMustBe) {
  const auto found = compilers();
  if (found.empty()) GTEST_SKIP() << "needs clang 19 or newer, or nvcc";
  for (const std::string& compiler : found) {
    const ProcessResult program =
        toolchain::run_process({kMuscope, "run", "-q", "--toolchain", compiler, kTests + "sectors.cu"});
    const ProcessResult report =
        toolchain::run_process({kMuscope, "run", "-q", "--toolchain", compiler, "--json", "-", kTests + "sectors.cu"});
    std::vector<Minimum> minima;
    std::istringstream lines(program.out);
    for (Minimum m; lines >> m.kernel >> m.read >> m.written >> m.slack;) minima.push_back(m);
    ASSERT_EQ(minima.size(), 15u) << program.out << program.err;
    const json parsed = json::parse(report.out.substr(report.out.find("{\n")), nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << report.out.substr(0, 500);
    const json& launches = parsed.at("launches");
    ASSERT_EQ(launches.size(), minima.size());
    for (std::size_t i = 0; i < minima.size(); ++i) {
      const Minimum& m = minima[i];
      const json& launch = launches[i];
      SCOPED_TRACE(compiler + ": " + launch.at("kernel").get<std::string>());
      EXPECT_THAT(launch.at("kernel").get<std::string>(), testing::HasSubstr("::" + m.kernel + "<"));
      const long long percent = 100 + std::max(0ll, m.slack);
      if (m.slack >= 0) {
        EXPECT_GE(sectors(launch, "ld"), m.read);
        EXPECT_LE(sectors(launch, "ld"), m.read * percent / 100);
      }
      EXPECT_LE(sectors(launch, "st"), m.written * percent / 100);
    }
  }
}

}  // namespace
}  // namespace muscope
