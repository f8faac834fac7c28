// muscope cc: a CUDA compiler for build systems. The work is done in toolchain/driver.cc.
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "toolchain/driver.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kHelp =
    R"(Compile CUDA with no CUDA toolkit: takes nvcc's command lines, compiles with clang, makes programs for muscope run.

Usage: muscope cc [--toolchain auto|clang|nvcc] NVCC-OPTIONS FILE...

  --toolchain clang   clang and muscope's own headers (what auto takes)
  --toolchain nvcc    call nvcc itself, adding what muscope needs (-lineinfo, -cudart shared)

Options are nvcc's: -c -o -I -D -std -O -g -G -lineinfo -arch -gencode -Xcompiler -Xlinker -l -L -MD -MF -MT -E -ptx
-shared -use_fast_math -maxrregcount and the rest of nvcc 13.0's list; each is honoured, taken without effect (it says
so) or refused by name. Without -arch the code is made for sm_90.

muscope-nvcc, beside muscope, is the same as one program for build systems.

Examples:
  muscope cc -O2 -o app app.cu
  muscope cc -c -o kernels.o kernels.cu && g++ -o app main.o kernels.o -L<...>/share/muscope/cuda/lib64 -lcudart
  cmake -DCMAKE_CUDA_COMPILER=muscope-nvcc ..
  make NVCC=muscope-nvcc
)";

}  // namespace

int cc_command(const Arguments& args) {
  using toolchain::Preference;
  Preference toolchain = Preference::kClang;
  Arguments rest = args;
  if (!rest.empty() && rest.front().starts_with("--toolchain=")) {
    toolchain = toolchain::preference_of(std::string_view(rest.front()).substr(12));
    rest.erase(rest.begin());
  } else if (rest.size() > 1 && rest.front() == "--toolchain") {
    toolchain = toolchain::preference_of(rest[1]);
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  if (rest.empty() || rest.front() == "--help" || rest.front() == "-h") {
    std::fwrite(kHelp.data(), 1, kHelp.size(), rest.empty() ? stderr : stdout);
    return rest.empty() ? kUsage : kOk;
  }
  return toolchain::run_driver(rest, toolchain, MUSCOPE_VERSION);
}

}  // namespace muscope::cli
