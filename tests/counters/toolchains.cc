// Lists, per example and source line, where nvcc's and clang's builds do not move the same, with the reason.
//
//   toolchains [EXAMPLE...]   print a table (all examples when none is named)
//
// Its output stands in docs/toolchains.md. Needs clang 19 or newer; nvcc's builds are committed.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "compare/scratch_folder.h"
#include "compare/toolchains.h"
#include "toolchain/tools.h"

namespace {

using namespace muscope;
using namespace muscope::counters;

std::string amount(const LineTraffic& traffic) {
  if (traffic.requests == 0) return "none";
  const std::string unit = cost_unit(traffic.what);
  std::string text = number(traffic.requests) + " requests";
  if (unit != "requests") text += ", " + number(traffic.cost) + " " + unit;
  return text;
}

int list(const std::vector<std::string>& names) {
  const auto clang = toolchain::find_clang(toolchain::SearchPlaces::from_environment());
  if (!clang) {
    std::fputs("toolchains: needs clang 19 or newer (apt-get install clang-19)\n", stderr);
    return 3;
  }
  const ScratchFolder work;
  std::size_t lines = 0;
  int listed = 0, equal = 0, unexplained = 0;
  std::string rows;
  for (const std::string& name : names) {
    const ToolchainComparison both = compare_toolchains(name, work.path());
    if (both.clang.launches.size() != both.nvcc.launches.size() || both.lines == 0) {
      std::fprintf(stderr, "%s: %s%s\n", name.c_str(), both.clang.out.c_str(), both.clang.err.c_str());
      return 1;
    }
    lines += both.lines;
    equal += both.differences.empty();
    for (const ToolchainDifference& d : both.differences) {
      ++listed;
      unexplained += d.reason.empty();
      rows += "| " + d.nvcc.line + " | " + d.nvcc.what + " | " + amount(d.nvcc) + " | " + amount(d.clang) + " | " +
              (d.reason.empty() ? "not explained" : d.reason) + " |\n";
    }
  }
  std::printf("nvcc 13.0 against %s: %zu examples, %zu lines and kinds of access; %d differ. %d examples are the same in all "
              "lines.\n\n",
              clang->text().c_str(), names.size(), lines, listed, equal);
  std::printf("| line | access | nvcc | clang | why |\n|---|---|---|---|---|\n%s", rows.c_str());
  return unexplained == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return list(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : example_names());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "toolchains: %s\n", e.what());
    return 1;
  }
}
