// Every example, compiled by clang with muscope's own device headers: it passes its own check, and each of its source
// lines moves what it moves in nvcc's build, except where toolchain_differences.tsv says why not.
#include <gmock/gmock.h>

#include "compare/scratch_folder.h"
#include "compare/toolchains.h"
#include "toolchain/tools.h"

namespace muscope::counters {
namespace {

using testing::HasSubstr;

class ExamplesWithClang : public testing::TestWithParam<std::string> {};

TEST_P(ExamplesWithClang, AsWithNvcc) {
  if (!toolchain::find_clang(toolchain::SearchPlaces::from_environment()))
    GTEST_SKIP() << "needs clang 19 or newer (apt-get install clang-19)";
  const ScratchFolder work;
  const ToolchainComparison both = compare_toolchains(GetParam(), work.path());
  EXPECT_THAT(both.clang.out, HasSubstr("PASS")) << both.clang.out << both.clang.err;
  EXPECT_EQ(both.clang.exit_code, both.nvcc.exit_code);  // shared_alignment is about a fault
  ASSERT_EQ(both.clang.launches.size(), both.nvcc.launches.size());
  for (std::size_t i = 0; i < both.clang.launches.size(); ++i) {
    EXPECT_EQ(both.clang.launches[i].kernel, both.nvcc.launches[i].kernel);
    EXPECT_EQ(both.clang.states[i], both.nvcc.states[i]);
  }
  EXPECT_GT(both.lines, 0u);
  for (const ToolchainDifference& d : both.differences) {
    EXPECT_FALSE(d.reason.empty()) << d.nvcc.line << " " << d.nvcc.what << ": " << d.nvcc.requests << " requests, "
                                   << d.nvcc.cost << " " << cost_unit(d.nvcc.what) << " with nvcc, " << d.clang.requests
                                   << ", " << d.clang.cost << " with clang; not in toolchain_differences.tsv";
  }
}

INSTANTIATE_TEST_SUITE_P(Toolchains, ExamplesWithClang, testing::ValuesIn(example_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace muscope::counters
